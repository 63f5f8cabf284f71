//! A tiny encoder with made-up weights, through the whole conversion.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::onnx::{FLOAT, INT8, TensorProto, UINT8};
use super::*;
use crate::convert::onnx::ModelProto;
use crate::integrity::Sums;
use crate::word_embeddings::{WORD_EMBEDDINGS_FILE, WordEmbeddings};

const HIDDEN: usize = 8;
const WIDE: usize = 16;
const VOCABULARY: usize = 11;
const POSITIONS: usize = 6;

/// A folder of the system's temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("remembrancer-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Numbers in −0.5 … 0.5 that differ from tensor to tensor and are the same in each run.
fn made_up(name: &str, count: usize) -> Vec<f32> {
    let mut state =
        name.bytes().fold(7_u32, |state, byte| state.wrapping_mul(31).wrapping_add(u32::from(byte)));
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..count).map(|_| next()).collect()
}

fn shapes() -> Vec<(String, Vec<usize>)> {
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![VOCABULARY, HIDDEN]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![POSITIONS, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, HIDDEN]),
    ];
    let layer = "encoder.layer.0";
    let linear = [
        ("attention.self.query", HIDDEN, HIDDEN),
        ("attention.self.key", HIDDEN, HIDDEN),
        ("attention.self.value", HIDDEN, HIDDEN),
        ("attention.output.dense", HIDDEN, HIDDEN),
        ("intermediate.dense", HIDDEN, WIDE),
        ("output.dense", WIDE, HIDDEN),
    ];
    for (part, inputs, outputs) in linear {
        shapes.push((format!("{layer}.{part}.weight"), vec![outputs, inputs]));
        shapes.push((format!("{layer}.{part}.bias"), vec![outputs]));
    }
    let norms = [
        "embeddings.LayerNorm".to_owned(),
        format!("{layer}.attention.output.LayerNorm"),
        format!("{layer}.output.LayerNorm"),
    ];
    for norm in norms {
        shapes.push((format!("{norm}.weight"), vec![HIDDEN]));
        shapes.push((format!("{norm}.bias"), vec![HIDDEN]));
    }
    shapes
}

/// A file of safetensors.
fn safetensors(tensors: impl IntoIterator<Item = (String, Vec<usize>, Vec<f32>)>) -> Vec<u8> {
    let mut header = String::from("{\"__metadata__\":{\"format\":\"pt\"}");
    let mut data = Vec::new();
    for (name, shape, values) in tensors {
        let begin = data.len();
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let entry = format!(r#"{{"dtype":"F32","shape":{shape:?},"data_offsets":[{begin},{}]}}"#, data.len());
        write!(header, r#","{name}":{entry}"#).unwrap();
    }
    header.push('}');
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.into_bytes());
    file.extend(data);
    file
}

fn write_model(folder: &Path) {
    let tensors = shapes().into_iter().map(|(name, shape)| {
        let values = made_up(&name, shape.iter().product());
        (format!("bert.{name}"), shape, values)
    });
    fs::write(folder.join("model.safetensors"), safetensors(tensors)).unwrap();
    let config = format!(
        r#"{{"model_type": "bert", "vocab_size": {VOCABULARY}, "type_vocab_size": 2,
            "max_position_embeddings": {POSITIONS}, "hidden_size": {HIDDEN}, "intermediate_size": {WIDE},
            "num_attention_heads": 2, "num_hidden_layers": 1, "layer_norm_eps": 1e-12}}"#
    );
    fs::write(folder.join("config.json"), config).unwrap();
}

fn floats(tensor: &TensorProto) -> Vec<f32> {
    assert_eq!(tensor.data_type, FLOAT);
    tensor.raw_data.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

#[test]
fn weights_survive_conversion_within_half_a_step() {
    let folder = Folder::new("convert");
    write_model(&folder.0);
    let out = folder.0.join("model_int8.onnx");
    convert_to_int8_onnx(&folder.0, None, &out).unwrap();

    let model = ModelProto::decode(fs::read(&out).unwrap().as_slice()).unwrap();
    assert_eq!((model.ir_version, model.opset_import[0].version), (8, 17));
    let graph = model.graph.unwrap();
    let inputs: Vec<_> = graph.input.iter().map(|input| input.name.as_str()).collect();
    assert_eq!(inputs, ["word_embeddings", "attention_mask", "token_type_ids"]);
    assert_eq!(graph.output[0].name, "last_hidden_state");
    let tensor = |name: &str| graph.initializer.iter().find(|tensor| tensor.name == name).unwrap();

    let name = "encoder.layer.0.intermediate.dense";
    let quantized = tensor(&format!("{name}_quantized"));
    assert_eq!(
        (quantized.data_type, quantized.dims.as_slice()),
        (INT8, [HIDDEN as i64, WIDE as i64].as_slice())
    );
    let scales = floats(tensor(&format!("{name}_scale")));
    let original = made_up(&format!("{name}.weight"), WIDE * HIDDEN);
    for output in 0..WIDE {
        for input in 0..HIDDEN {
            let restored =
                f32::from(quantized.raw_data[input * WIDE + output].cast_signed()) * scales[output];
            assert!((restored - original[output * HIDDEN + input]).abs() <= scales[output] * 0.501);
        }
    }

    let table = tensor("embeddings.token_type_embeddings_quantized");
    assert_eq!((table.data_type, table.raw_data.len()), (UINT8, 2 * HIDDEN));
    let scale = floats(tensor("embeddings.token_type_embeddings_scale"))[0];
    let zero_point = f32::from(tensor("embeddings.token_type_embeddings_zero_point").raw_data[0]);
    for (quantized, original) in
        table.raw_data.iter().zip(made_up("embeddings.token_type_embeddings.weight", 2 * HIDDEN))
    {
        assert!((scale * (f32::from(*quantized) - zero_point) - original).abs() <= scale * 1.01);
    }
    assert_eq!(
        floats(tensor("encoder.layer.0.output.dense.bias")),
        made_up("encoder.layer.0.output.dense.bias", HIDDEN)
    );
}

#[test]
fn word_embeddings_are_read_as_they_were_written_within_half_a_step() {
    let folder = Folder::new("words");
    write_model(&folder.0);
    let file = folder.0.join(WORD_EMBEDDINGS_FILE);
    write_word_embeddings(&folder.0, &file).unwrap();
    let words = WordEmbeddings::open(&folder.0, &Sums::of(&folder.0).unwrap()).unwrap();
    assert_eq!(words.hidden(), HIDDEN);
    let table = made_up("embeddings.word_embeddings.weight", VOCABULARY * HIDDEN);
    let ids = [0, 10, 3, 10];
    let wanted = ids.iter().flat_map(|id| &table[id * HIDDEN..(id + 1) * HIDDEN]);
    let rows = words.rows(&ids.map(|id| id as i64)).unwrap();
    assert_eq!(rows.len(), ids.len() * HIDDEN);
    // Values span less than one, so a step is less than 1 / 255.
    assert!(rows.iter().zip(wanted).all(|(row, wanted)| (row - wanted).abs() <= 1.01 / 255.0));
    for id in [-1, VOCABULARY as i64] {
        let refused = words.rows(&[id]).unwrap_err().to_string();
        assert!(refused.contains("no word"), "{refused}");
    }
}

#[test]
fn a_file_without_word_embeddings_is_refused() {
    let folder = Folder::new("no-words");
    let file = folder.0.join(WORD_EMBEDDINGS_FILE);
    let none = safetensors([("values".to_owned(), vec![1, 1], vec![0.5])]);
    for content in [Vec::new(), b"none".to_vec(), vec![0xff; 40], none] {
        fs::write(&file, content).unwrap();
        let refused = WordEmbeddings::open(&folder.0, &Sums::of(&folder.0).unwrap()).unwrap_err();
        assert!(refused.to_string().contains(WORD_EMBEDDINGS_FILE), "{refused}");
    }
    fs::remove_file(&file).unwrap();
    assert!(WordEmbeddings::open(&folder.0, &Sums::of(&folder.0).unwrap()).is_err());
}

#[test]
fn an_adapter_is_added_to_the_weights_that_it_names() {
    let folder = Folder::new("adapter");
    write_model(&folder.0);
    let (linear, norm) = ("encoder.layer.0.intermediate.dense", "encoder.layer.0.output.LayerNorm.weight");
    let (up, down, more) = (made_up("up", WIDE * 2), made_up("down", 2 * HIDDEN), made_up("more", HIDDEN));
    let adapter = safetensors([
        (format!("{linear}.weight.up"), vec![WIDE, 2], up.clone()),
        (format!("{linear}.weight.down"), vec![2, HIDDEN], down.clone()),
        (norm.to_owned(), vec![HIDDEN], more.clone()),
    ]);
    let out = folder.0.join("adapted.onnx");
    convert_to_int8_onnx(&folder.0, Some(&adapter), &out).unwrap();

    let graph = ModelProto::decode(fs::read(&out).unwrap().as_slice()).unwrap().graph.unwrap();
    let tensor = |name: &str| graph.initializer.iter().find(|tensor| tensor.name == name).unwrap();
    let quantized = tensor(&format!("{linear}_quantized"));
    let scales = floats(tensor(&format!("{linear}_scale")));
    let original = made_up(&format!("{linear}.weight"), WIDE * HIDDEN);
    for output in 0..WIDE {
        for input in 0..HIDDEN {
            let product: f32 = (0..2).map(|at| up[output * 2 + at] * down[at * HIDDEN + input]).sum();
            let wanted = original[output * HIDDEN + input] + product;
            let restored =
                f32::from(quantized.raw_data[input * WIDE + output].cast_signed()) * scales[output];
            assert!((restored - wanted).abs() <= scales[output] * 0.501, "{restored} {wanted}");
        }
    }
    let sums: Vec<f32> = made_up(norm, HIDDEN).iter().zip(more).map(|(a, b)| a + b).collect();
    assert_eq!(floats(tensor(norm)), sums);
}

#[test]
fn an_adapter_that_does_not_fit_is_refused_and_leaves_no_file() {
    let folder = Folder::new("misfit");
    write_model(&folder.0);
    let name = "encoder.layer.0.output.dense.weight";
    let thin = |suffix: &str, shape: [usize; 2]| {
        (format!("{name}.{suffix}"), shape.to_vec(), vec![0.5; shape[0] * shape[1]])
    };
    let out = folder.0.join("adapted.onnx");
    for adapter in [
        safetensors([thin("up", [HIDDEN, 2]), thin("down", [3, WIDE])]),
        safetensors([thin("up", [HIDDEN, 2]), thin("down", [2, WIDE + 1])]),
        safetensors([(name.to_owned(), vec![3], vec![0.5; 3])]),
        safetensors([("embeddings.word_embeddings.weight".to_owned(), vec![1], vec![0.5])]),
        b"no tensors".to_vec(),
    ] {
        let error = convert_to_int8_onnx(&folder.0, Some(&adapter), &out).unwrap_err();
        assert!(matches!(error, ConvertError::Unsupported(_)), "{error}");
    }
    assert!(!out.exists());
}

/// A tensor of int32 beside those of floats.
fn with_list(tensors: Vec<(String, Vec<usize>, Vec<f32>)>, name: &str, places: &[i32]) -> Vec<u8> {
    let bits = places.iter().map(|place| f32::from_bits(place.cast_unsigned())).collect();
    let list = (name.to_owned(), vec![places.len()], bits);
    let file = safetensors(tensors.into_iter().chain([list]));
    let entry = format!(r#""{name}":{{"dtype":"#);
    let at = file.windows(entry.len()).position(|bytes| bytes == entry.as_bytes()).unwrap() + entry.len();
    [&file[..at], br#""I32""#, &file[at + 5..]].concat()
}

#[test]
fn of_an_axis_is_left_what_an_adapter_keeps() {
    let folder = Folder::new("kept");
    write_model(&folder.0);
    let kept = [1, 4, 15];
    let (up, down) = ("encoder.layer.0.intermediate.dense", "encoder.layer.0.output.dense");
    let more = made_up("more", kept.len());
    let differences = vec![(format!("{up}.bias"), vec![kept.len()], more.clone())];
    let adapter = with_list(differences, "encoder.layer.0.intermediate.kept", &kept);
    let out = folder.0.join("kept.onnx");
    convert_to_int8_onnx(&folder.0, Some(&adapter), &out).unwrap();

    let graph = ModelProto::decode(fs::read(&out).unwrap().as_slice()).unwrap().graph.unwrap();
    let tensor = |name: &str| graph.initializer.iter().find(|tensor| tensor.name == name).unwrap();
    let biases = made_up(&format!("{up}.bias"), WIDE);
    let wanted: Vec<f32> =
        kept.iter().zip(more).map(|(place, more)| biases[*place as usize] + more).collect();
    assert_eq!(floats(tensor(&format!("{up}.bias"))), wanted);
    for (name, original, inputs, outputs) in [
        (up, made_up(&format!("{up}.weight"), WIDE * HIDDEN), HIDDEN, kept.len()),
        (down, made_up(&format!("{down}.weight"), WIDE * HIDDEN), kept.len(), HIDDEN),
    ] {
        let quantized = tensor(&format!("{name}_quantized"));
        assert_eq!(quantized.dims, [inputs as i64, outputs as i64]);
        let scales = floats(tensor(&format!("{name}_scale")));
        for input in 0..inputs {
            for output in 0..outputs {
                let wanted = if name == up {
                    original[kept[output] as usize * HIDDEN + input]
                } else {
                    original[output * WIDE + kept[input] as usize]
                };
                let value = quantized.raw_data[input * outputs + output].cast_signed();
                assert!((f32::from(value) * scales[output] - wanted).abs() <= scales[output] * 0.501);
            }
        }
    }
}

#[test]
fn heads_that_an_adapter_does_not_keep_are_left_out() {
    let folder = Folder::new("heads");
    write_model(&folder.0);
    let adapter = with_list(Vec::new(), "encoder.layer.0.attention.kept", &[1]);
    let out = folder.0.join("kept.onnx");
    convert_to_int8_onnx(&folder.0, Some(&adapter), &out).unwrap();
    let graph = ModelProto::decode(fs::read(&out).unwrap().as_slice()).unwrap().graph.unwrap();
    let tensor = |name: &str| graph.initializer.iter().find(|tensor| tensor.name == name).unwrap();
    // The second of two heads has the last four of eight values.
    for (name, rows, columns) in
        [("self.query", 4..8, 0..8), ("self.value", 4..8, 0..8), ("output.dense", 0..8, 4..8)]
    {
        let name = format!("encoder.layer.0.attention.{name}");
        let original = made_up(&format!("{name}.weight"), HIDDEN * HIDDEN);
        let quantized = tensor(&format!("{name}_quantized"));
        let scales = floats(tensor(&format!("{name}_scale")));
        assert_eq!(quantized.dims, [columns.len() as i64, rows.len() as i64]);
        for (output, row) in rows.clone().enumerate() {
            for (input, column) in columns.clone().enumerate() {
                let value = quantized.raw_data[input * rows.len() + output].cast_signed();
                let restored = f32::from(value) * scales[output];
                assert!(
                    (restored - original[row * HIDDEN + column]).abs() <= scales[output] * 0.501,
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn a_list_of_what_is_kept_that_does_not_fit_is_refused() {
    let folder = Folder::new("misfit-list");
    write_model(&folder.0);
    let out = folder.0.join("kept.onnx");
    let name = "encoder.layer.0.intermediate.kept";
    for places in [&[][..], &[3, 3], &[5, 2], &[WIDE as i32], &[-1]] {
        let adapter = with_list(Vec::new(), name, places);
        let error = convert_to_int8_onnx(&folder.0, Some(&adapter), &out).unwrap_err();
        assert!(matches!(error, ConvertError::Unsupported(_)), "{error}");
    }
    assert!(!out.exists());
}

#[test]
fn inputs_of_several_matrices_are_quantized_once() {
    let folder = Folder::new("share");
    write_model(&folder.0);
    let out = folder.0.join("model_int8.onnx");
    convert_to_int8_onnx(&folder.0, None, &out).unwrap();
    let graph = ModelProto::decode(fs::read(&out).unwrap().as_slice()).unwrap().graph.unwrap();
    let count = |op: &str| graph.node.iter().filter(|node| node.op_type == op).count();
    assert_eq!((count("MatMulInteger"), count("DynamicQuantizeLinear")), (6, 4));
}

#[test]
fn no_more_layers_than_wanted_are_converted() {
    let folder = Folder::new("layers");
    write_model(&folder.0);
    let out = folder.0.join("layers.onnx");
    for (layers, matrices) in [(0, 0), (1, 6), (3, 6)] {
        convert_first_layers(&folder.0, layers, None, &out).unwrap();
        let graph = ModelProto::decode(fs::read(&out).unwrap().as_slice()).unwrap().graph.unwrap();
        let multiplied = graph.node.iter().filter(|node| node.op_type == "MatMulInteger").count();
        assert_eq!(multiplied, matrices, "{layers}");
        assert_eq!(graph.output[0].name, "last_hidden_state");
    }
}

#[test]
fn every_input_of_a_node_stands_before_it() {
    let folder = Folder::new("order");
    write_model(&folder.0);
    let out = folder.0.join("model_int8.onnx");
    convert_to_int8_onnx(&folder.0, None, &out).unwrap();
    let graph = ModelProto::decode(fs::read(&out).unwrap().as_slice()).unwrap().graph.unwrap();
    let mut known: Vec<&str> = graph.input.iter().map(|input| input.name.as_str()).collect();
    known.extend(graph.initializer.iter().map(|tensor| tensor.name.as_str()));
    let mut unique = known.clone();
    for node in &graph.node {
        for input in &node.input {
            assert!(known.contains(&input.as_str()), "{} of {}", input, node.name);
        }
        known.extend(node.output.iter().map(String::as_str));
    }
    unique.clone_from(&known);
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), known.len());
}

#[test]
fn a_model_cut_short_is_refused_and_leaves_no_file() {
    let folder = Folder::new("short");
    write_model(&folder.0);
    let weights = folder.0.join("model.safetensors");
    let bytes = fs::read(&weights).unwrap();
    let out = folder.0.join("model_int8.onnx");
    for length in [3, 8, 200, bytes.len() - 1] {
        fs::write(&weights, &bytes[..length]).unwrap();
        let error = convert_to_int8_onnx(&folder.0, None, &out).unwrap_err();
        assert!(matches!(error, ConvertError::Malformed { .. }), "{error}");
    }
    assert!(!out.exists());
}

#[test]
fn another_kind_of_model_is_named_in_the_error() {
    let folder = Folder::new("kind");
    fs::write(folder.0.join("config.json"), r#"{"model_type": "mpnet"}"#).unwrap();
    let error = convert_to_int8_onnx(&folder.0, None, &folder.0.join("out.onnx")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "this model cannot be converted: its type is mpnet, and only bert is known"
    );
}
