//! How far the import of a file has got.

use std::sync::atomic::{AtomicU64, Ordering};

use memory_core::graph::grouped;

/// How far the import of a file has got; other calls read it meanwhile.
#[derive(Debug, Default)]
pub(super) struct ImportProgress {
    placed: AtomicU64,
    /// 0 while nothing is imported.
    lines: AtomicU64,
}

impl ImportProgress {
    pub(super) fn begin(&self, content: &[u8]) {
        let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
        self.placed.store(0, Ordering::Relaxed);
        self.lines.store(lines as u64, Ordering::Relaxed);
    }

    pub(super) fn add_placed(&self, more: usize) {
        self.placed.fetch_add(more as u64, Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.lines.store(0, Ordering::Relaxed);
    }

    /// Such as `61,000 of 100,000 lines`; `None` while nothing is imported.
    pub(super) fn so_far(&self) -> Option<String> {
        let lines = self.lines.load(Ordering::Relaxed);
        let placed = self.placed.load(Ordering::Relaxed).min(lines);
        (lines > 0).then(|| format!("{} of {} lines", grouped(placed), grouped(lines)))
    }
}
