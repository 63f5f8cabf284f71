//! What the sizes gave.

use super::bulk::OnDisk;
use serde::Serialize;
use serde_json::Value;

use super::Filled;
use measuring::machine::Machine;
use measuring::percentiles::Spread;
use measuring::table::{head, table};

#[derive(Debug, Clone, Serialize)]
pub struct ScaleReport {
    pub version: String,
    pub date: String,
    pub model: String,
    pub machine: Machine,
    pub settings: Value,
    pub sizes: Vec<SizeReport>,
}

#[derive(Debug, Clone, Serialize)]
pub struct SizeReport {
    pub passages: u64,
    pub filled: Filled,
    pub measured: Vec<Measured>,
    pub index_agreement: Option<Agreement>,
    pub on_disk: Vec<OnDisk>,
    pub database_bytes: i64,
    /// Proportional set size of the measuring process, which holds the memory and the clients …
    pub process_bytes: Option<u64>,
    /// … and of all processes of its database.
    pub server_bytes: Option<u64>,
    pub measuring_seconds: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    pub weights: String,
    pub clients: usize,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    pub ms: Spread,
    pub per_second: f64,
    pub errors: usize,
}

/// The share of the true nearest vectors that the index finds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Agreement {
    pub share: f64,
    pub depth: usize,
    pub questions: usize,
}

impl SizeReport {
    /// The bytes of all tables, or of all indexes of a method.
    fn bytes(&self, kind: &str) -> i64 {
        self.on_disk.iter().filter(|one| one.kind == kind).map(|one| one.bytes).sum()
    }
}

/// One row a size, then one a measurement.
pub fn tables(sizes: &[SizeReport]) -> String {
    let megabytes = |bytes: i64| format!("{:.0}", bytes as f64 / f64::from(1 << 20));
    let seconds = |seconds: f64| format!("{seconds:.1}");
    let rows: Vec<Vec<String>> = sizes
        .iter()
        .map(|size| {
            let filled = &size.filled;
            let held = |bytes: Option<u64>| bytes.map_or("?".to_owned(), |b| megabytes(b as i64));
            vec![
                size.passages.to_string(),
                seconds(filled.rows_seconds),
                seconds(filled.lexical_index_seconds),
                seconds(filled.vector_index_seconds),
                megabytes(size.database_bytes),
                megabytes(size.bytes("table")),
                megabytes(size.bytes("gin")),
                megabytes(size.bytes("hnsw")),
                held(size.process_bytes),
                held(size.server_bytes),
                size.index_agreement.map_or("exact".to_owned(), |a| format!("{:.1} %", a.share * 100.0)),
            ]
        })
        .collect();
    let columns = head([
        "passages",
        "rows s",
        "GIN s",
        "HNSW s",
        "disk MB",
        "tables",
        "GIN",
        "HNSW",
        "process MB",
        "Postgres MB",
        "nearest 10",
    ]);
    table(&columns, &rows) + "\n" + &latencies(sizes)
}

fn latencies(sizes: &[SizeReport]) -> String {
    let ms = |ms: f64| format!("{ms:.1}");
    let mut rows = Vec::new();
    for size in sizes {
        for measured in &size.measured {
            let outcome = &measured.outcome;
            rows.push(vec![
                measured.weights.clone(),
                size.passages.to_string(),
                measured.clients.to_string(),
                ms(outcome.ms.p50),
                ms(outcome.ms.p95),
                ms(outcome.ms.p99),
                ms(outcome.per_second),
                outcome.errors.to_string(),
            ]);
        }
    }
    table(
        &head(["weights", "passages", "clients", "p50 ms", "p95 ms", "p99 ms", "per second", "errors"]),
        &rows,
    )
}
