//! Builds an ONNX graph node by node. Each node has one output and bears its name.

use std::collections::HashSet;

use super::onnx::{
    ATTRIBUTE_FLOAT, ATTRIBUTE_INT, ATTRIBUTE_INTS, AttributeProto, DimensionProto, FLOAT, GraphProto, INT8,
    INT64, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto, TensorTypeProto,
    TypeProto, UINT8, ValueInfoProto,
};
use super::quantize::{ColumnScaled, TensorScaled};

const IR_VERSION: i64 = 8;
const OPSET: i64 = 17;

#[derive(Default)]
pub(super) struct GraphBuilder {
    graph: GraphProto,
    /// Values whose 8-bit form is already there: matrices multiplied with the same input share it.
    quantized: HashSet<String>,
}

impl GraphBuilder {
    pub(super) fn node(&mut self, op_type: &str, inputs: &[&str], output: &str) -> String {
        self.node_with(op_type, inputs, output, Vec::new())
    }

    pub(super) fn node_with(
        &mut self,
        op_type: &str,
        inputs: &[&str],
        output: &str,
        attribute: Vec<AttributeProto>,
    ) -> String {
        self.push_node(op_type, inputs, &[output], attribute);
        output.to_owned()
    }

    fn push_node(
        &mut self,
        op_type: &str,
        inputs: &[&str],
        outputs: &[&str],
        attribute: Vec<AttributeProto>,
    ) {
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(ToString::to_string).collect(),
            output: outputs.iter().map(ToString::to_string).collect(),
            name: outputs[0].to_owned(),
            op_type: op_type.to_owned(),
            attribute,
        });
    }

    fn tensor(&mut self, name: &str, data_type: i32, dims: &[usize], raw_data: Vec<u8>) -> String {
        let dims = dims.iter().map(|size| *size as i64).collect();
        self.graph.initializer.push(TensorProto { dims, data_type, name: name.to_owned(), raw_data });
        name.to_owned()
    }

    pub(super) fn floats(&mut self, name: &str, dims: &[usize], values: &[f32]) -> String {
        self.tensor(name, FLOAT, dims, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    pub(super) fn ints(&mut self, name: &str, values: &[i64]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensor(name, INT64, &[values.len()], bytes)
    }

    /// `output = table[indices]`, dequantized after the rows are taken. `dims` are those of the table.
    pub(super) fn gather_quantized(
        &mut self,
        table: (&str, [usize; 2], &TensorScaled),
        indices: &str,
        output: &str,
    ) -> String {
        let (name, dims, quantized) = table;
        let values = self.tensor(&format!("{name}_quantized"), UINT8, &dims, quantized.values.clone());
        let scale = self.floats(&format!("{name}_scale"), &[], &[quantized.scale]);
        let zero_point = self.tensor(&format!("{name}_zero_point"), UINT8, &[], vec![quantized.zero_point]);
        let rows = self.node("Gather", &[&values, indices], &format!("{output}_quantized"));
        self.node("DequantizeLinear", &[&rows, &scale, &zero_point], output)
    }

    /// `output = input × weight` over 8-bit integers, scaled back to floats. `input` is quantized when the
    /// model runs, over the range of its values. `dims` are those of the weight, \[inputs, outputs\].
    pub(super) fn matmul_quantized(
        &mut self,
        input: &str,
        weight: (&str, [usize; 2], &ColumnScaled),
        output: &str,
    ) -> String {
        let (name, dims, quantized) = weight;
        let bytes = quantized.values.iter().map(|value| value.cast_unsigned()).collect();
        let values = self.tensor(&format!("{name}_quantized"), INT8, &dims, bytes);
        let scales = self.floats(&format!("{name}_scale"), &[dims[1]], &quantized.scales);
        let zero_points = self.tensor(&format!("{name}_zero_point"), INT8, &[dims[1]], vec![0; dims[1]]);

        let input_values = format!("{input}_quantized");
        let input_scale = format!("{input}_scale");
        let input_zero_point = format!("{input}_zero_point");
        if self.quantized.insert(input.to_owned()) {
            let outputs = [input_values.as_str(), &input_scale, &input_zero_point];
            self.push_node("DynamicQuantizeLinear", &[input], &outputs, Vec::new());
        }
        let scale = self.node("Mul", &[&input_scale, &scales], &format!("{output}_scale"));
        let inputs = [input_values.as_str(), &values, &input_zero_point, &zero_points];
        let product = self.node("MatMulInteger", &inputs, &format!("{output}_integer"));
        let product = self.cast_to_float(&product, &format!("{output}_float"));
        self.node("Mul", &[&product, &scale], output)
    }

    pub(super) fn cast_to_float(&mut self, input: &str, output: &str) -> String {
        self.node_with("Cast", &[input], output, vec![int("to", i64::from(FLOAT))])
    }

    /// An input of int64, \[batch, sequence\].
    pub(super) fn int_input(&mut self, name: &str) -> String {
        self.graph.input.push(value(name, INT64, batch_and_sequence()));
        name.to_owned()
    }

    /// An input of float32, \[batch, sequence, `hidden`\].
    pub(super) fn float_input(&mut self, name: &str, hidden: usize) -> String {
        self.graph.input.push(value(name, FLOAT, with_hidden(hidden)));
        name.to_owned()
    }

    /// The finished model with one float output of \[batch, sequence, `hidden`\].
    pub(super) fn into_model(mut self, name: &str, output: &str, hidden: usize) -> ModelProto {
        name.clone_into(&mut self.graph.name);
        self.graph.output = vec![value(output, FLOAT, with_hidden(hidden))];
        ModelProto {
            ir_version: IR_VERSION,
            producer_name: "remembrancer".to_owned(),
            graph: Some(self.graph),
            opset_import: vec![OperatorSetIdProto { domain: String::new(), version: OPSET }],
        }
    }
}

pub(super) fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto { name: name.to_owned(), i: Some(value), r#type: ATTRIBUTE_INT, ..Default::default() }
}

pub(super) fn ints(name: &str, values: &[i64]) -> AttributeProto {
    let ints = values.to_vec();
    AttributeProto { name: name.to_owned(), ints, r#type: ATTRIBUTE_INTS, ..Default::default() }
}

pub(super) fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto { name: name.to_owned(), f: Some(value), r#type: ATTRIBUTE_FLOAT, ..Default::default() }
}

fn batch_and_sequence() -> Vec<DimensionProto> {
    vec![named_size("batch"), named_size("sequence")]
}

fn with_hidden(hidden: usize) -> Vec<DimensionProto> {
    let mut sizes = batch_and_sequence();
    sizes.push(DimensionProto { value: Some(hidden as i64), param: None });
    sizes
}

fn named_size(name: &str) -> DimensionProto {
    DimensionProto { value: None, param: Some(name.to_owned()) }
}

fn value(name: &str, elem_type: i32, dim: Vec<DimensionProto>) -> ValueInfoProto {
    let tensor_type = TensorTypeProto { elem_type, shape: Some(TensorShapeProto { dim }) };
    ValueInfoProto { name: name.to_owned(), r#type: Some(TypeProto { tensor_type: Some(tensor_type) }) }
}
