//! The weights of a model, read by name from a file in the safetensors format.

use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensorError, SafeTensors};

use super::{ConvertError, read};

/// The values of one axis of a tensor.
#[derive(Debug)]
pub(super) struct Axis {
    /// How many the model has.
    size: usize,
    /// The places of those that an adapter keeps, in order; all without.
    kept: Option<Vec<usize>>,
}

impl Axis {
    pub(super) fn whole(size: usize) -> Self {
        Self { size, kept: None }
    }

    pub(super) fn len(&self) -> usize {
        self.kept.as_ref().map_or(self.size, Vec::len)
    }
}

/// Float tensors of one file.
#[derive(Debug)]
pub(super) struct Weights {
    path: PathBuf,
    file: Vec<u8>,
    /// What is added to some of them, in the same format: a tensor of the same name is a difference, one of its name with
    /// `.up` \[outputs, rank\] times the one with `.down` \[rank, inputs\] too. Tensors of whole numbers say what is kept of an axis;
    /// differences have the shape of what is kept.
    adapter: Option<Vec<u8>>,
}

impl Weights {
    pub(super) fn open(path: &Path, adapter: Option<&[u8]>) -> Result<Self, ConvertError> {
        let weights = Self { path: path.to_owned(), file: read(path)?, adapter: adapter.map(<[u8]>::to_vec) };
        weights.tensors()?;
        weights.adapter()?;
        Ok(weights)
    }

    fn adapter(&self) -> Result<Option<SafeTensors<'_>>, ConvertError> {
        let broken = |error: SafeTensorError| ConvertError::Unsupported(format!("its adapter: {error}"));
        self.adapter.as_deref().map(SafeTensors::deserialize).transpose().map_err(broken)
    }

    /// Whether the adapter, which is known to be sound, has something for a tensor.
    pub(super) fn are_adapted(&self, name: &str) -> bool {
        let adapter = self.adapter().ok().flatten();
        adapter.is_some_and(|adapter| adapter.names().iter().any(|changed| changed.starts_with(name)))
    }

    fn tensors(&self) -> Result<SafeTensors<'_>, ConvertError> {
        SafeTensors::deserialize(&self.file).map_err(|error| malformed(&self.path, &error.to_string()))
    }

    /// An axis of `count` stretches of `width` values, or of those whose places the tensor `name` of the adapter lists (int32, ascending).
    pub(super) fn axis(&self, name: &str, count: usize, width: usize) -> Result<Axis, ConvertError> {
        let size = count * width;
        let adapter = self.adapter()?;
        let Some(list) = adapter.as_ref().and_then(|adapter| adapter.tensor(name).ok()) else {
            return Ok(Axis::whole(size));
        };
        let words = list.data().as_chunks::<4>().0.iter();
        let places: Vec<usize> = words.map(|word| i32::from_le_bytes(*word) as usize).collect();
        let is_sound = list.dtype() == Dtype::I32
            && places.is_sorted_by(|a, b| a < b)
            && places.last().is_some_and(|last| *last < count);
        if !is_sound {
            let reason = format!("its adapter: {name} lists no places below {count}");
            return Err(ConvertError::Unsupported(reason));
        }
        let values = places.iter().flat_map(|place| place * width..(place + 1) * width);
        Ok(Axis { size, kept: Some(values.collect()) })
    }

    /// The elements in row-major order; an error if the tensor is missing or of another shape. Names are
    /// looked up with and without the `bert.` that some exports put before them.
    pub(super) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ConvertError> {
        let axes: Vec<Axis> = shape.iter().copied().map(Axis::whole).collect();
        self.kept_floats(name, &axes.iter().collect::<Vec<_>>())
    }

    /// The same of what is kept of one or two axes.
    pub(super) fn kept_floats(&self, name: &str, axes: &[&Axis]) -> Result<Vec<f32>, ConvertError> {
        let shape: Vec<usize> = axes.iter().map(|axis| axis.size).collect();
        let tensors = self.tensors()?;
        let tensor = tensors
            .tensor(name)
            .or_else(|_| tensors.tensor(&format!("bert.{name}")))
            .map_err(|_| malformed(&self.path, &format!("it has no tensor {name}")))?;
        if tensor.shape() != shape.as_slice() {
            let reason = format!("{name} has the shape {:?} and {shape:?} was expected", tensor.shape());
            return Err(malformed(&self.path, &reason));
        }
        let mut values = decode(tensor.data(), tensor.dtype())
            .ok_or_else(|| ConvertError::Unsupported(format!("{name} is of type {:?}", tensor.dtype())))?;
        for (at, axis) in axes.iter().enumerate() {
            if let Some(kept) = &axis.kept {
                values = take(&values, axis.size, shape[at + 1..].iter().product(), kept);
            }
        }
        if let Some(adapter) = self.adapter()? {
            adapt(&mut values, &adapter, name)
                .ok_or_else(|| ConvertError::Unsupported(format!("its adapter does not fit {name}")))?;
        }
        Ok(values)
    }
}

/// Of each run of `size` stretches of `width` values those at the places that are kept.
fn take(values: &[f32], size: usize, width: usize, kept: &[usize]) -> Vec<f32> {
    let runs = values.chunks_exact(size * width);
    runs.flat_map(|run| kept.iter().flat_map(|place| &run[place * width..(place + 1) * width]).copied())
        .collect()
}

/// Adds what an adapter has for a tensor; `None` if that is of another shape or type.
fn adapt(values: &mut [f32], adapter: &SafeTensors<'_>, name: &str) -> Option<()> {
    if let Ok(difference) = adapter.tensor(name) {
        let difference = decode(difference.data(), difference.dtype())?;
        (difference.len() == values.len()).then_some(())?;
        values.iter_mut().zip(difference).for_each(|(value, more)| *value += more);
    }
    let (Ok(up), Ok(down)) = (adapter.tensor(&format!("{name}.up")), adapter.tensor(&format!("{name}.down")))
    else {
        return Some(());
    };
    let (&[outputs, rank], &[rank_too, inputs]) = (up.shape(), down.shape()) else { return None };
    (rank == rank_too && rank > 0 && outputs * inputs == values.len()).then_some(())?;
    let (up, down) = (decode(up.data(), up.dtype())?, decode(down.data(), down.dtype())?);
    for (row, up) in values.chunks_exact_mut(inputs).zip(up.chunks_exact(rank)) {
        for (share, down) in up.iter().zip(down.chunks_exact(inputs)) {
            row.iter_mut().zip(down).for_each(|(value, down)| *value += share * down);
        }
    }
    Some(())
}

pub(crate) fn decode(bytes: &[u8], dtype: Dtype) -> Option<Vec<f32>> {
    let halves = || bytes.as_chunks::<2>().0.iter().map(|half| u16::from_le_bytes(*half));
    match dtype {
        Dtype::F32 => Some(bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect()),
        Dtype::F16 => Some(halves().map(half_to_f32).collect()),
        Dtype::BF16 => Some(halves().map(|half| f32::from_bits(u32::from(half) << 16)).collect()),
        _ => None,
    }
}

/// IEEE 754 binary16 to binary32.
fn half_to_f32(half: u16) -> f32 {
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(half >> 10 & 0x1f);
    let fraction = f32::from(half & 0x3ff);
    match exponent {
        0 => sign * fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2_f32.powi(exponent - 15),
    }
}

fn malformed(path: &Path, reason: &str) -> ConvertError {
    ConvertError::Malformed { path: path.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_become_the_same_numbers() {
        assert_eq!(half_to_f32(0x3c00).to_bits(), 1.0_f32.to_bits());
        assert_eq!(half_to_f32(0xc500).to_bits(), (-5.0_f32).to_bits());
        assert_eq!(half_to_f32(0x0001).to_bits(), 2_f32.powi(-24).to_bits());
        assert!(half_to_f32(0x7e00).is_nan());
    }
}
