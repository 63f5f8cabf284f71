//! What a backup holds against what its manifest says.

use std::collections::BTreeMap;

use anyhow::bail;
use memory_engine::archive::{ArchiveExported, Whole};
use memory_language::text::counted;
use memory_store::Store;
use memory_store::embedded::EmbeddedPostgres;
use memory_store::inventory;

use super::manifest::Manifest;

const CONNECTIONS: u32 = 4;
/// By how many rows a table may differ where it is not known how many were written, and by which part of it.
const UNKNOWN_ROWS: i64 = 10_000;
const UNKNOWN_PART: i64 = 10;

/// A table of the copy.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Sound,
    /// It has a number of rows that it can have had, since it was written to meanwhile.
    Told(String),
    Fault(String),
}

/// Every table has as many rows as when the backup was made. One that was written to meanwhile has a number between, or one
/// that it can have had: rows that came and went again are in neither count.
pub(super) async fn compare_tables(
    postgres: &EmbeddedPostgres,
    manifest: &Manifest,
    notes: &mut Vec<String>,
) -> anyhow::Result<(usize, i64)> {
    let mut conn = inventory::look_at(&postgres.url()).await?;
    let found = inventory::count_rows(&mut conn).await?;
    let mut faults = Vec::new();
    for table in manifest.counts.keys() {
        match verdict(manifest, table, found.get(table).copied()) {
            Verdict::Sound => {}
            Verdict::Told(note) => notes.push(note),
            Verdict::Fault(fault) => faults.push(fault),
        }
    }
    refuse_differences(&faults)?;
    Ok((found.len(), found.values().sum()))
}

fn verdict(manifest: &Manifest, table: &str, found: Option<i64>) -> Verdict {
    let Some(rows) = found else { return Verdict::Fault(format!("the table {table} is missing")) };
    let before = manifest.counts.get(table).copied().unwrap_or(0);
    let after = manifest.counts_after.get(table).copied().unwrap_or(before);
    let (least, most) = (before.min(after), before.max(after));
    let off = (least - rows).max(rows - most);
    if off <= 0 {
        return Verdict::Sound;
    }
    let written = match &manifest.written {
        Some(written) => written.get(table).copied().unwrap_or(0),
        // Nothing is known to have been written at all.
        None if manifest.counts_after.is_empty() => 0,
        None => UNKNOWN_ROWS + most / UNKNOWN_PART,
    };
    let rows = counted(rows, "row");
    if off > written {
        return Verdict::Fault(format!("{table} has {rows} instead of {before}"));
    }
    Verdict::Told(format!(
        "{table} has {rows}; it had {before} before and {after} after the copy was made, and was written to meanwhile"
    ))
}

/// What is exported again is as much as what was exported.
pub(super) async fn compare_archives(
    postgres: &EmbeddedPostgres,
    manifest: &Manifest,
) -> anyhow::Result<(usize, i64)> {
    let store = Store::open_embedded(postgres, CONNECTIONS).await?;
    let mut whole = Whole::of(&store).await?;
    let mut found = BTreeMap::new();
    for ns in whole.namespaces().await? {
        let counts = whole.export(&ns, &mut tokio::io::sink()).await?;
        found.insert(ns.to_string(), counts);
    }
    let rows = whole.count_rows().await?;
    drop(whole);
    store.close().await;
    let mut faults = Vec::new();
    for one in &manifest.namespaces {
        let here = found.remove(&one.namespace).unwrap_or_default();
        if here != one.counts {
            faults.push(format!(
                "the namespace {} has {} instead of {}",
                one.namespace,
                said(here),
                said(one.counts)
            ));
        }
    }
    faults.extend(found.into_keys().map(|name| format!("the namespace {name} was not in the backup")));
    refuse_differences(&faults)?;
    Ok((rows.len(), rows.values().sum()))
}

fn said(counts: ArchiveExported) -> String {
    let value = serde_json::to_value(counts).unwrap_or_default();
    let parts = value.as_object().into_iter().flatten().map(|(name, count)| format!("{count} {name}"));
    parts.collect::<Vec<_>>().join(", ")
}

fn refuse_differences(faults: &[String]) -> anyhow::Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    bail!("the backup does not hold what its manifest says: {}; use another backup", faults.join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest(
        counts: &serde_json::Value,
        after: &serde_json::Value,
        written: &serde_json::Value,
    ) -> Manifest {
        let mut all = json!({
            "format": 1, "kind": "physical", "reason": "asked", "created_at": "2026-02-02T01:00:00Z", "product": "1.0.0",
            "database": {
                "schema": 1, "postgres": "18.6", "postgres_major": 18, "pgvector": null, "model": null, "source": null, "bytes": 1
            },
            "counts": counts, "counts_after": after, "namespaces": [], "bytes": 1, "files": {},
        });
        if !written.is_null() {
            all["written"] = written.clone();
        }
        serde_json::from_value(all).expect("a manifest")
    }

    fn is_fault(manifest: &Manifest, table: &str, rows: i64) -> Option<bool> {
        match verdict(manifest, table, Some(rows)) {
            Verdict::Sound => None,
            Verdict::Told(note) => {
                assert!(note.contains(table) && note.contains("meanwhile"), "{note}");
                Some(false)
            }
            Verdict::Fault(fault) => {
                assert!(fault.contains(table), "{fault}");
                Some(true)
            }
        }
    }

    #[test]
    fn a_table_that_rose_and_fell_while_it_was_copied_is_told_and_one_that_did_not_is_a_fault() {
        let counts = json!({"event_jobs": 4, "artifact": 10, "passage": 20});
        let found = manifest(&counts, &json!({"passage": 25}), &json!({"event_jobs": 6, "passage": 5}));
        for (table, rows, expected) in [
            ("event_jobs", 4, None),
            ("event_jobs", 10, Some(false)),
            ("event_jobs", 0, Some(false)),
            ("event_jobs", 11, Some(true)),
            ("passage", 22, None),
            ("passage", 30, Some(false)),
            ("passage", 14, Some(true)),
            // Nothing was written to it.
            ("artifact", 10, None),
            ("artifact", 9, Some(true)),
            ("artifact", 11, Some(true)),
        ] {
            assert_eq!(is_fault(&found, table, rows), expected, "{table} with {rows}");
        }
        assert!(
            matches!(verdict(&found, "artifact", None), Verdict::Fault(fault) if fault.contains("is missing"))
        );
    }

    #[test]
    fn of_a_backup_that_does_not_say_what_was_written_a_quiet_one_is_held_to_its_counts() {
        let counts = json!({"event_jobs": 4, "artifact": 10});
        let quiet = manifest(&counts, &json!({}), &json!(null));
        assert_eq!(is_fault(&quiet, "event_jobs", 5), Some(true));
        let busy = manifest(&counts, &json!({"artifact": 11}), &json!(null));
        assert_eq!(is_fault(&busy, "event_jobs", 5), Some(false));
        assert_eq!(is_fault(&busy, "event_jobs", 20_000), Some(true));
    }
}
