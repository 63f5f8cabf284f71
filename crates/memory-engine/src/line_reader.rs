//! Reading a stream line by line, each line numbered and within its limit.

use memory_core::Invalid;
use memory_core::graph_jsonl::LINE_MAX_BYTES;
use tokio::io::{AsyncBufReadExt, AsyncReadExt};

use crate::EngineError;
use crate::streams::Input;

/// Reads one line after the other, each within its limit.
pub(crate) struct LineReader<'a> {
    from: Input<'a>,
    line: Vec<u8>,
    /// Of the last line read, from 1.
    pub(crate) number: u64,
    pub(crate) bytes_read: u64,
}

impl<'a> LineReader<'a> {
    pub(crate) fn new(from: Input<'a>) -> Self {
        Self { from, line: Vec::new(), number: 0, bytes_read: 0 }
    }

    /// The next line, its line feed included; `None` after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<&[u8]>, EngineError> {
        self.line.clear();
        let limit = LINE_MAX_BYTES as u64 + 1;
        let read = (&mut self.from).take(limit).read_until(b'\n', &mut self.line).await?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.bytes_read += read as u64;
        if read as u64 == limit && self.line.last() != Some(&b'\n') {
            return Err(Invalid::new(format!(
                "Line {} is longer than {LINE_MAX_BYTES} bytes, the limit. Split what it says.",
                self.number
            ))
            .into());
        }
        Ok(Some(&self.line))
    }
}
