//! The direction of dependencies, checked: a new edge needs a line here.

use std::collections::BTreeMap;
use std::process::Command;

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
        ("memory-core", "memory-language"),
        ("memory-engine", "memory-core memory-language memory-store"),
        ("memory-extraction", "memory-core memory-language"),
        ("memory-inference", "memory-core"),
        ("memory-language", ""),
        ("memory-store", "memory-core memory-language"),
        ("memory-telemetry", "memory-engine"),
        (
            "remembrancer",
            "memory-core memory-engine memory-extraction memory-inference memory-language memory-store memory-telemetry",
        ),
        // Tools stand above the product, and none of it depends on them.
        ("measuring", "memory-core memory-language"),
        (
            "remembrancer-bench",
            "measuring memory-core memory-engine memory-extraction memory-language memory-store memory-telemetry \
             remembrancer",
        ),
        ("train-clauses", "measuring memory-core memory-extraction"),
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
        ("axum", &["remembrancer"]),
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
