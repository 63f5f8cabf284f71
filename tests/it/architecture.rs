//! The direction of dependencies, checked: a new edge needs a line here. And the map of the code: what it names is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use memory_tests::documented::page;
use serde_json::Value;

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

fn dependencies(package: &Value) -> impl Iterator<Item = &Value> {
    package["dependencies"].as_array().into_iter().flatten()
}

#[test]
fn crates_depend_only_downwards() {
    let mut edges = BTreeMap::new();
    for package in &packages() {
        let mut below: Vec<&str> = dependencies(package)
            .filter(|d| d["path"].is_string())
            .filter_map(|d| d["name"].as_str())
            .collect();
        below.sort_unstable();
        below.dedup();
        edges.insert(package["name"].as_str().expect("name").to_owned(), below.join(" "));
    }
    let allowed = [
        (
            "event-worker",
            "memory-core memory-engine memory-extraction memory-inference memory-store memory-telemetry",
        ),
        ("memory-agents", ""),
        ("memory-core", "memory-language memory-vectors"),
        ("memory-dashboard", "memory-core memory-engine memory-language"),
        ("memory-documents", ""),
        ("memory-engine", "memory-core memory-language memory-network memory-store memory-vectors"),
        ("memory-extraction", "memory-core memory-language memory-network"),
        ("memory-inference", "memory-core"),
        ("memory-language", ""),
        ("memory-network", "memory-core"),
        ("memory-store", "memory-core memory-language"),
        ("memory-telemetry", "memory-engine"),
        ("memory-vectors", ""),
        (
            "remembrancer",
            "memory-agents memory-core memory-dashboard memory-documents memory-engine memory-extraction memory-inference \
             memory-language memory-network memory-store memory-telemetry",
        ),
        // Tools stand above the product, and none of it depends on them.
        ("measuring", "memory-core memory-language"),
        (
            "remembrancer-bench",
            "measuring memory-core memory-engine memory-extraction memory-language memory-store memory-telemetry \
             remembrancer",
        ),
        ("remembrancer-fuzz", "memory-core memory-extraction memory-language"),
        ("train-clauses", "measuring memory-core memory-extraction memory-inference memory-language"),
    ];
    for (name, below) in allowed {
        for dependency in edges[name].split_whitespace() {
            assert!(
                below.split(' ').any(|allowed| allowed == dependency),
                "{name} must not depend on {dependency}"
            );
        }
    }
    let known: Vec<&str> = allowed.iter().map(|(name, _)| *name).chain(["memory-tests"]).collect();
    assert!(
        edges.keys().all(|name| known.contains(&name.as_str())),
        "a new crate needs a line here: {edges:?}"
    );
}

#[test]
fn each_gateway_has_one_home() {
    let homes = [
        // The bench fills tables in bulk.
        ("sqlx", &["memory-store", "remembrancer-bench"][..]),
        ("pgvector", &["memory-store"]),
        ("qdrant-client", &["memory-store"]),
        ("tonic", &[]),
        ("fastembed", &["memory-inference"]),
        ("ort", &["memory-inference"]),
        ("axum", &["memory-dashboard", "remembrancer"]),
        ("rmcp", &["remembrancer"]),
    ];
    for package in &packages() {
        let name = package["name"].as_str().expect("name");
        if name == "memory-tests" {
            continue;
        }
        for dependency in dependencies(package) {
            for (gateway, home) in &homes {
                assert!(
                    dependency["name"] != **gateway || home.contains(&name),
                    "{gateway} does not belong in {name}"
                );
            }
        }
    }
}

#[test]
fn the_core_and_the_language_do_no_input_or_output() {
    let packages = packages();
    for name in ["memory-core", "memory-language"] {
        let package = packages.iter().find(|p| p["name"] == name).expect("a crate of that name");
        for forbidden in ["tokio", "sqlx", "qdrant-client", "reqwest", "axum", "rmcp"] {
            assert!(dependencies(package).all(|d| d["name"] != forbidden), "{name} must not use {forbidden}");
        }
    }
}

/// What stands in backticks.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Whether a span is the path of a file or folder; one that begins with a slash is an address on the wire.
fn is_path(span: &str) -> bool {
    let is_plain = span.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    let ending = Path::new(span).extension().and_then(|ending| ending.to_str());
    let has_ending = matches!(ending, Some("rs" | "sql" | "md" | "toml" | "py"));
    is_plain && !span.starts_with('/') && (has_ending || span.contains('/'))
}

/// A path as documents write it: from the root of the repository, or from `crates`.
fn found(path: &str) -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    [repository.join(path), repository.join("crates").join(path)].into_iter().find(|path| path.exists())
}

#[test]
fn every_path_that_the_map_and_the_glossary_name_is_there() {
    for (document, least) in [("docs/ARCHITECTURE.md", 60), ("docs/STYLE.md", 20)] {
        let text = page(document);
        let lines = text.lines().enumerate();
        let named: Vec<(usize, &str)> = lines
            .flat_map(|(n, line)| spans(line).filter(|span| is_path(span)).map(move |path| (n + 1, path)))
            .collect();
        assert!(named.len() >= least, "{document} names only {} paths", named.len());
        let missing: Vec<String> = named
            .iter()
            .filter(|(_, path)| found(path).is_none())
            .map(|(n, path)| format!("{document}:{n}: {path} is not there"))
            .collect();
        assert!(missing.is_empty(), "{}", missing.join("\n"));
    }
}

/// Whether one of the files that a line names contains this.
fn leads_to(line: &str, content: &str) -> bool {
    let files = spans(line).filter(|span| is_path(span)).filter_map(found).filter(|path| path.is_file());
    files.into_iter().any(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains(content)))
}

#[test]
fn the_map_alone_says_in_which_file_a_newcomer_has_to_look() {
    let map = page("docs/ARCHITECTURE.md");
    for (asked, content) in [
        ("the BM25 weight", "pub struct RankingWeights"),
        ("a job's lease", "lease_token = gen_random_uuid()"),
        ("a forgotten text", "pub async fn delete_artifacts("),
        ("the list of tools", "[\"remember\", \"recall\", \"forget\", \"status\", \"briefing\"]"),
        ("the filter that Qdrant is asked with", "-> Filter {"),
    ] {
        let line = map.lines().find(|line| line.contains(asked));
        let line = line.unwrap_or_else(|| panic!("the map says nothing of {asked}"));
        assert!(leads_to(line, content), "no file in this line has `{content}`: {line}");
    }
    // Two printed pages.
    assert!(map.len() <= 12_000, "the map has {} bytes", map.len());
}

#[test]
fn each_word_of_the_glossary_names_a_type_in_the_file_beside_it() {
    let style = page("docs/STYLE.md");
    let rows = style.lines().skip_while(|line| !line.starts_with("| word |")).skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with("| ")).collect();
    assert!(rows.len() >= 15, "the glossary has only {} words", rows.len());
    for row in rows {
        let types = spans(row).filter(|span| span.starts_with(|c: char| c.is_ascii_uppercase()));
        for name in types.filter(|span| span.chars().all(char::is_alphanumeric)) {
            // `closed_set!` defines an enum by its name and a brace.
            let forms = [
                format!("struct {name}"),
                format!("enum {name}"),
                format!("trait {name}"),
                format!("    {name} {{"),
            ];
            assert!(forms.iter().any(|form| leads_to(row, form)), "no file beside it defines {name}: {row}");
        }
    }
}
