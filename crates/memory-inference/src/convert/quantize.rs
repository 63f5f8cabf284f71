//! Floats to 8-bit integers: `real = scale × (quantized − zero_point)`, rounded half to even, as ONNX
//! Runtime's `quantize_dynamic` does it.

/// A matrix of signed bytes, each column with its own scale and zero point 0.
pub(super) struct ColumnScaled {
    /// \[inputs, outputs\], row-major.
    pub(super) values: Vec<i8>,
    /// \[outputs\]
    pub(super) scales: Vec<f32>,
}

/// A tensor of unsigned bytes with one scale and one zero point.
pub(super) struct TensorScaled {
    pub(super) values: Vec<u8>,
    pub(super) scale: f32,
    pub(super) zero_point: u8,
}

/// Quantizes the weight of a linear layer, \[outputs, inputs\] as it is stored, and transposes it to
/// what a multiplication from the right takes. Symmetric, −127 … 127: the zero of a padded or pruned
/// weight stays exactly zero.
pub(super) fn quantize_columns(weight: &[f32], outputs: usize, inputs: usize) -> ColumnScaled {
    let mut values = vec![0; weight.len()];
    let mut scales = Vec::with_capacity(outputs);
    for (output, row) in weight.chunks_exact(inputs).enumerate() {
        let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = usable_scale(2.0 * f64::from(largest) / 254.0);
        for (input, value) in row.iter().enumerate() {
            values[input * outputs + output] = (value / scale).round_ties_even() as i8;
        }
        scales.push(scale);
    }
    ColumnScaled { values, scales }
}

/// Quantizes an embedding table over the range that its values span (and zero).
pub(super) fn quantize_tensor(tensor: &[f32]) -> TensorScaled {
    let (low, high) =
        tensor.iter().fold((0.0_f32, 0.0_f32), |(low, high), value| (low.min(*value), high.max(*value)));
    let exact = (f64::from(high) - f64::from(low)) / 255.0;
    let scale = usable_scale(exact);
    let zero_point = if exact < f64::from(f32::MIN_POSITIVE) {
        0.0
    } else {
        (-f64::from(low) / exact).round_ties_even() as f32
    };
    let values = tensor
        .iter()
        .map(|value| ((value / scale).round_ties_even() + zero_point).clamp(0.0, 255.0) as u8)
        .collect();
    TensorScaled { values, scale, zero_point: zero_point as u8 }
}

/// A row of zeros has no range; any scale describes it.
fn usable_scale(scale: f64) -> f32 {
    if scale < f64::from(f32::MIN_POSITIVE) { 1.0 } else { scale as f32 }
}
