//! The start of the memory, which may fail and be begun again while the process serves.

use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;

use super::{Daemon, PATIENCE};
use crate::boot::{Booted, Mismatch, boot};

/// The start of the memory: under way, done, or failed and perhaps begun again.
pub(super) struct Start<'a> {
    daemon: &'a Daemon,
    under_way: Option<BoxFuture<'a, anyhow::Result<Option<Booted>>>>,
    booted: Option<Booted>,
    failed_at: Option<Instant>,
}

impl<'a> Start<'a> {
    pub(super) fn of(daemon: &'a Daemon) -> Self {
        Self { daemon, under_way: None, booted: None, failed_at: None }
    }

    pub(super) fn begin(&mut self, mismatch: Mismatch) {
        let Daemon { settings, announce, stop, .. } = self.daemon;
        self.under_way = Some(boot(settings, announce, stop, mismatch).boxed());
    }

    /// Returns when the start under way has ended; pending while there is none.
    pub(super) async fn finished(&mut self) -> anyhow::Result<()> {
        let Some(starting) = &mut self.under_way else { return std::future::pending().await };
        let outcome = starting.await;
        self.under_way = None;
        match outcome {
            Ok(booted) => {
                self.booted = booted;
                Ok(())
            }
            Err(error) => {
                self.failed_at = Some(Instant::now());
                Err(error)
            }
        }
    }

    /// There is no memory, and none is being started.
    pub(super) fn is_missing(&self) -> bool {
        self.under_way.is_none() && self.booted.is_none()
    }

    pub(super) fn failed_for(&self) -> Duration {
        self.failed_at.map_or(Duration::ZERO, |failed| failed.elapsed())
    }

    pub(super) async fn has_work(&self) -> bool {
        match &self.booted {
            Some(booted) => booted.has_work().await,
            None => false,
        }
    }

    /// What has to be shut down. A start under way may have begun something, a database above all, so it is given some
    /// time to end.
    pub(super) async fn end(mut self) -> Option<Booted> {
        if self.under_way.is_some() {
            let _ = tokio::time::timeout(PATIENCE, self.finished()).await;
        }
        self.booted
    }
}
