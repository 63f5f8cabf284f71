//! The BERT encoder (Devlin et al. 2018) as an ONNX graph: embeddings, then layers of self-attention and
//! feed-forward, each followed by addition and layer normalisation.

use std::path::Path;

use serde::Deserialize;

use super::ConvertError;
use super::graph::{GraphBuilder, float, int, ints};
use super::onnx::ModelProto;
use super::quantize::{TensorScaled, quantize_columns, quantize_tensor};
use super::weights::{Axis, Weights};
use crate::word_embeddings::WORD_EMBEDDINGS_INPUT;

/// Added to the attention score of padding, so that softmax leaves it nothing.
const MASKED: f32 = -10_000.0;

const WORD_EMBEDDINGS: &str = "embeddings.word_embeddings.weight";

/// What `config.json` says of the shape of the model.
#[derive(Debug, Deserialize)]
pub(super) struct BertConfig {
    model_type: String,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
    vocab_size: usize,
    type_vocab_size: usize,
    max_position_embeddings: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    layer_norm_eps: f32,
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl BertConfig {
    pub(super) fn parse(path: &Path, json: &[u8]) -> Result<Self, ConvertError> {
        let malformed = |error: serde_json::Error| ConvertError::Malformed {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let json: serde_json::Value = serde_json::from_slice(json).map_err(malformed)?;
        // Before the other fields, which another kind of model need not have.
        let model_type = json.get("model_type").and_then(serde_json::Value::as_str).unwrap_or("unnamed");
        if model_type != "bert" {
            let reason = format!("its type is {model_type}, and only bert is known");
            return Err(ConvertError::Unsupported(reason));
        }
        let config: Self = serde_json::from_value(json).map_err(malformed)?;
        config.check()?;
        Ok(config)
    }

    /// With no more than so many layers.
    pub(super) fn with_layers(self, layers: usize) -> Self {
        Self { num_hidden_layers: self.num_hidden_layers.min(layers), ..self }
    }

    fn check(&self) -> Result<(), ConvertError> {
        let unsupported = |reason: String| Err(ConvertError::Unsupported(reason));
        if self.hidden_act != "gelu" {
            return unsupported(format!("its activation is {}, and only gelu is known", self.hidden_act));
        }
        if self.position_embedding_type != "absolute" {
            return unsupported(format!(
                "its positions are {}, and only absolute is known",
                self.position_embedding_type
            ));
        }
        let heads = self.num_attention_heads;
        if heads == 0 || self.num_hidden_layers == 0 || !self.hidden_size.is_multiple_of(heads) {
            return unsupported(format!(
                "{} layers of {} values in {heads} heads make no encoder",
                self.num_hidden_layers, self.hidden_size
            ));
        }
        Ok(())
    }
}

/// The table of word embeddings, \[vocabulary, hidden\], and its shape.
pub(super) fn word_embeddings(
    config: &BertConfig,
    weights: &Weights,
) -> Result<([usize; 2], TensorScaled), ConvertError> {
    let shape = [config.vocab_size, config.hidden_size];
    Ok((shape, quantize_tensor(&weights.floats(WORD_EMBEDDINGS, &shape)?)))
}

/// Reads the weights one by one: the whole model is in memory once, quantized.
pub(super) fn build(config: &BertConfig, weights: &Weights) -> Result<ModelProto, ConvertError> {
    if weights.are_adapted(WORD_EMBEDDINGS) {
        let reason = "its adapter changes word embeddings, which models of the same weights share";
        return Err(ConvertError::Unsupported(reason.to_owned()));
    }
    let mut encoder = Encoder { config, weights, graph: GraphBuilder::default() };
    let mask = encoder.mask();
    encoder.constants();
    let mut hidden = encoder.embeddings()?;
    for layer in 0..config.num_hidden_layers {
        hidden = encoder.layer(layer, &hidden, &mask)?;
    }
    encoder.graph.node("Identity", &[&hidden], "last_hidden_state");
    Ok(encoder.graph.into_model(&config.model_type, "last_hidden_state", config.hidden_size))
}

struct Encoder<'a> {
    config: &'a BertConfig,
    weights: &'a Weights,
    graph: GraphBuilder,
}

impl Encoder<'_> {
    /// Constants that every layer uses.
    fn constants(&mut self) {
        let head_size = self.config.hidden_size / self.config.num_attention_heads;
        // A zero in a shape keeps the size that is there: batch and sequence. −1 stands for as many as there are.
        self.graph.ints("by_head", &[0, 0, -1, head_size as i64]);
        self.graph.ints("joined", &[0, 0, -1]);
        self.graph.floats("sqrt_head_size", &[], &[(head_size as f32).sqrt()]);
        self.graph.floats("sqrt_two", &[], &[2_f32.sqrt()]);
        self.graph.floats("half", &[], &[0.5]);
    }

    /// 0 for a token and [`MASKED`] for padding, of \[batch, 1, 1, sequence\].
    fn mask(&mut self) -> String {
        let graph = &mut self.graph;
        let one = graph.floats("one", &[], &[1.0]);
        let masked = graph.floats("masked", &[], &[MASKED]);
        let axes = graph.ints("head_and_query", &[1, 2]);
        let mask = graph.node("Unsqueeze", &["attention_mask", &axes], "mask");
        let mask = graph.cast_to_float(&mask, "mask_float");
        let padding = graph.node("Sub", &[&one, &mask], "padding");
        graph.node("Mul", &[&padding, &masked], "mask_bias")
    }

    fn embeddings(&mut self) -> Result<String, ConvertError> {
        let BertConfig { type_vocab_size, max_position_embeddings, hidden_size, .. } = *self.config;
        let words = self.graph.float_input(WORD_EMBEDDINGS_INPUT, hidden_size);
        let mask = self.graph.int_input("attention_mask");
        let type_ids = self.graph.int_input("token_type_ids");
        let types = self.gather("embeddings.token_type_embeddings", type_vocab_size, &type_ids, "types")?;

        // A slice, not a gather over a range: ONNX Runtime turns that into a slice with starts of rank 0,
        // which then fails when it runs.
        let shape = [max_position_embeddings, hidden_size];
        let positions = self.weights.floats("embeddings.position_embeddings.weight", &shape)?;
        let positions = self.graph.floats("positions_table", &shape, &positions);
        let zero = self.graph.ints("zero", &[0]);
        let sequence = self.graph.ints("sequence_axis", &[1]);
        let shape = self.graph.node("Shape", &[&mask], "mask_shape");
        let length = self.graph.node("Gather", &[&shape, &sequence], "length");
        let positions = self.graph.node("Slice", &[&positions, &zero, &length, &zero], "positions");

        let sum = self.graph.node("Add", &[&words, &types], "words_and_types");
        let sum = self.graph.node("Add", &[&sum, &positions], "embedded");
        self.layer_norm(&sum, "embeddings.LayerNorm", "embedded_norm")
    }

    fn gather(&mut self, name: &str, rows: usize, indices: &str, out: &str) -> Result<String, ConvertError> {
        let shape = [rows, self.config.hidden_size];
        let table = self.weights.floats(&format!("{name}.weight"), &shape)?;
        Ok(self.graph.gather_quantized((name, shape, &quantize_tensor(&table)), indices, out))
    }

    fn layer(&mut self, index: usize, hidden: &str, mask: &str) -> Result<String, ConvertError> {
        let BertConfig { hidden_size, intermediate_size, num_attention_heads, .. } = *self.config;
        let name = |part: &str| format!("encoder.layer.{index}.{part}");
        let out = |part: &str| format!("{part}_{index}");
        let states = Axis::whole(hidden_size);
        let heads = self.weights.axis(
            &name("attention.kept"),
            num_attention_heads,
            hidden_size / num_attention_heads,
        )?;
        let intermediate = self.weights.axis(&name("intermediate.kept"), intermediate_size, 1)?;

        let attended = self.attention(index, hidden, mask, [&states, &heads])?;
        let part = name("attention.output.dense");
        let attended = self.linear(&attended, &part, [&heads, &states], &out("attended"))?;
        let sum = self.graph.node("Add", &[&attended, hidden], &out("attention_sum"));
        let attended = self.layer_norm(&sum, &name("attention.output.LayerNorm"), &out("attention_norm"))?;

        let part = name("intermediate.dense");
        let wide = self.linear(&attended, &part, [&states, &intermediate], &out("wide"))?;
        let wide = self.gelu(&wide);
        let narrow = self.linear(&wide, &name("output.dense"), [&intermediate, &states], &out("narrow"))?;
        let sum = self.graph.node("Add", &[&narrow, &attended], &out("layer_sum"));
        self.layer_norm(&sum, &name("output.LayerNorm"), &out("layer_norm"))
    }

    /// softmax(Q Kᵀ / √d + mask) V, in heads. `axes` are the inputs and the values of all heads.
    fn attention(
        &mut self,
        index: usize,
        hidden: &str,
        mask: &str,
        axes: [&Axis; 2],
    ) -> Result<String, ConvertError> {
        let out = |part: &str| format!("{part}_{index}");
        let mut head = |part: &str, order: &[i64]| {
            let name = format!("encoder.layer.{index}.attention.self.{part}");
            let projected = self.linear(hidden, &name, axes, &out(part))?;
            let by_head =
                self.graph.node("Reshape", &[&projected, "by_head"], &format!("{projected}_by_head"));
            let order = vec![ints("perm", order)];
            Ok(self.graph.node_with("Transpose", &[&by_head], &format!("{projected}_ordered"), order))
        };
        let query = head("query", &[0, 2, 1, 3])?;
        let key = head("key", &[0, 2, 3, 1])?;
        let value = head("value", &[0, 2, 1, 3])?;
        let graph = &mut self.graph;
        let scores = graph.node("MatMul", &[&query, &key], &out("scores"));
        let scores = graph.node("Div", &[&scores, "sqrt_head_size"], &out("scaled"));
        let scores = graph.node("Add", &[&scores, mask], &out("masked_scores"));
        let shares = graph.node_with("Softmax", &[&scores], &out("shares"), vec![int("axis", -1)]);
        let mixed = graph.node("MatMul", &[&shares, &value], &out("mixed"));
        let order = vec![ints("perm", &[0, 2, 1, 3])];
        let mixed = graph.node_with("Transpose", &[&mixed], &out("mixed_by_token"), order);
        Ok(graph.node("Reshape", &[&mixed, "joined"], &out("mixed_joined")))
    }

    /// `axes` are the inputs and the outputs.
    fn linear(&mut self, x: &str, name: &str, axes: [&Axis; 2], out: &str) -> Result<String, ConvertError> {
        let [inputs, outputs] = axes;
        let sizes = axes.map(Axis::len);
        let weight = self.weights.kept_floats(&format!("{name}.weight"), &[outputs, inputs])?;
        let weight = quantize_columns(&weight, outputs.len(), inputs.len());
        let bias = self.weights.kept_floats(&format!("{name}.bias"), &[outputs])?;
        let bias = self.graph.floats(&format!("{name}.bias"), &[outputs.len()], &bias);
        let product = self.graph.matmul_quantized(x, (name, sizes, &weight), &format!("{out}_product"));
        Ok(self.graph.node("Add", &[&product, &bias], out))
    }

    /// x (1 + erf(x / √2)) / 2, in the form that ONNX Runtime knows to fuse.
    fn gelu(&mut self, x: &str) -> String {
        let graph = &mut self.graph;
        let scaled = graph.node("Div", &[x, "sqrt_two"], &format!("{x}_scaled"));
        let erf = graph.node("Erf", &[&scaled], &format!("{x}_erf"));
        let erf = graph.node("Add", &[&erf, "one"], &format!("{x}_erf_and_one"));
        let product = graph.node("Mul", &[x, &erf], &format!("{x}_doubled"));
        graph.node("Mul", &[&product, "half"], &format!("{x}_gelu"))
    }

    fn layer_norm(&mut self, x: &str, name: &str, out: &str) -> Result<String, ConvertError> {
        let size = self.config.hidden_size;
        let weight = self.weights.floats(&format!("{name}.weight"), &[size])?;
        let weight = self.graph.floats(&format!("{name}.weight"), &[size], &weight);
        let bias = self.weights.floats(&format!("{name}.bias"), &[size])?;
        let bias = self.graph.floats(&format!("{name}.bias"), &[size], &bias);
        let attributes = vec![int("axis", -1), float("epsilon", self.config.layer_norm_eps)];
        Ok(self.graph.node_with("LayerNormalization", &[x, &weight, &bias], out, attributes))
    }
}
