//! Reads the safetensors format: eight bytes with the length of a JSON header (little-endian), the header
//! with dtype, shape and byte range of each tensor, then the raw data. Every length is checked against
//! the file before it is used.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{ConvertError, io_error};

/// The format's own limit.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// Float tensors of one file, read one at a time.
#[derive(Debug)]
pub(super) struct SafeTensors {
    path: PathBuf,
    file: File,
    entries: HashMap<String, Entry>,
    data_start: u64,
}

#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    /// From the end of the header, end exclusive.
    data_offsets: (u64, u64),
}

impl SafeTensors {
    pub(super) fn open(path: &Path) -> Result<Self, ConvertError> {
        let mut file = File::open(path).map_err(|source| io_error(path, source))?;
        let file_bytes = file.metadata().map_err(|source| io_error(path, source))?.len();
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(|_| malformed(path, "it is shorter than 8 bytes"))?;
        let header_bytes = u64::from_le_bytes(length);
        if header_bytes > MAX_HEADER_BYTES || header_bytes > file_bytes.saturating_sub(8) {
            return Err(malformed(path, &format!("its header claims {header_bytes} bytes")));
        }
        let mut header = vec![0; header_bytes as usize];
        file.read_exact(&mut header).map_err(|source| io_error(path, source))?;
        let data_start = 8 + header_bytes;
        let entries =
            parse_header(&header, file_bytes - data_start).map_err(|reason| malformed(path, &reason))?;
        Ok(Self { path: path.to_owned(), file, entries, data_start })
    }

    /// The elements in row-major order; an error if the tensor is missing or of another shape. Names are
    /// looked up with and without the `bert.` that some exports put before them.
    pub(super) fn floats(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ConvertError> {
        let entry = self
            .entries
            .get(name)
            .or_else(|| self.entries.get(&format!("bert.{name}")))
            .ok_or_else(|| malformed(&self.path, &format!("it has no tensor {name}")))?;
        if entry.shape != shape {
            let reason = format!("{name} has the shape {:?} and {shape:?} was expected", entry.shape);
            return Err(malformed(&self.path, &reason));
        }
        let (begin, end) = entry.data_offsets;
        let mut bytes = vec![0; (end - begin) as usize];
        self.file
            .seek(SeekFrom::Start(self.data_start + begin))
            .and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(|source| io_error(&self.path, source))?;
        decode(&bytes, &entry.dtype)
            .ok_or_else(|| ConvertError::Unsupported(format!("{name} is of type {}", entry.dtype)))
    }
}

fn parse_header(header: &[u8], data_bytes: u64) -> Result<HashMap<String, Entry>, String> {
    let mut header: HashMap<String, serde_json::Value> =
        serde_json::from_slice(header).map_err(|error| format!("its header is not JSON: {error}"))?;
    header.remove("__metadata__");
    let mut entries = HashMap::with_capacity(header.len());
    for (name, value) in header {
        let entry: Entry =
            serde_json::from_value(value).map_err(|error| format!("tensor {name}: {error}"))?;
        let (begin, end) = entry.data_offsets;
        if begin > end || end > data_bytes {
            return Err(format!("tensor {name} lies at {begin}..{end} of {data_bytes} bytes"));
        }
        // Types that are never asked for (a buffer of positions, say) need not be known.
        if let Some(width) = width(&entry.dtype) {
            let elements =
                entry.shape.iter().try_fold(1_u64, |product, size| product.checked_mul(*size as u64));
            if elements.and_then(|elements| elements.checked_mul(width)) != Some(end - begin) {
                return Err(format!("tensor {name} has {} bytes for {:?}", end - begin, entry.shape));
            }
        }
        entries.insert(name, entry);
    }
    Ok(entries)
}

/// Bytes an element.
fn width(dtype: &str) -> Option<u64> {
    match dtype {
        "F32" => Some(4),
        "F16" | "BF16" => Some(2),
        _ => None,
    }
}

fn decode(bytes: &[u8], dtype: &str) -> Option<Vec<f32>> {
    let halves = || bytes.as_chunks::<2>().0.iter().map(|half| u16::from_le_bytes(*half));
    match dtype {
        "F32" => Some(bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect()),
        "F16" => Some(halves().map(half_to_f32).collect()),
        "BF16" => Some(halves().map(|half| f32::from_bits(u32::from(half) << 16)).collect()),
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

    #[test]
    fn a_tensor_outside_the_file_is_refused() {
        let header = br#"{"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}"#;
        assert!(parse_header(header, 16).is_ok());
        assert!(parse_header(header, 15).unwrap_err().contains("0..16 of 15"));
    }

    #[test]
    fn a_tensor_whose_shape_and_bytes_differ_is_refused() {
        let short = br#"{"w": {"dtype": "F32", "shape": [5], "data_offsets": [0, 16]}}"#;
        assert!(parse_header(short, 16).is_err());
        let overflow =
            br#"{"w": {"dtype": "F32", "shape": [4294967296, 4294967296, 4], "data_offsets": [0, 0]}}"#;
        assert!(parse_header(overflow, 16).is_err());
        let backwards = br#"{"w": {"dtype": "F32", "shape": [0], "data_offsets": [8, 4]}}"#;
        assert!(parse_header(backwards, 16).is_err());
    }
}
