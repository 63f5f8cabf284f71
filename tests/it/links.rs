//! Links between documents: each leads to a file that is there, and to a heading that it has.

use std::fs;
use std::path::{Path, PathBuf};

use memory_tests::documented::page;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Markdown in the root, in `docs` and below, and beside fuzz targets and labelled texts, by paths from the root.
fn documents() -> Vec<String> {
    let mut documents = vec!["fuzz/README.md".to_owned(), "tests/gold/README.md".to_owned()];
    let mut folders = vec![String::new(), "docs/".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(repository().join(&folder)).expect("the folder is there") {
            let entry = entry.expect("it is listed");
            let path = format!("{folder}{}", entry.file_name().to_string_lossy());
            if entry.file_type().expect("a type").is_dir() {
                folders.extend((!folder.is_empty()).then(|| format!("{path}/")));
            } else if Path::new(&path).extension().is_some_and(|ending| ending == "md") {
                documents.push(path);
            }
        }
    }
    documents
}

/// Lines that are not in a block of code, numbered.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(n, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((n + 1, line))
    })
}

/// What links of a line lead to: what stands in `](…)`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// A heading as hosts of repositories name it in addresses.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Why a link of a document leads nowhere.
fn fault(document: &str, target: &str) -> Option<String> {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let folder = Path::new(document).parent().expect("a folder");
    let file = if path.is_empty() { PathBuf::from(document) } else { folder.join(path) };
    if !repository().join(&file).exists() {
        return Some(format!("{} is not there", file.display()));
    }
    if heading.is_empty() {
        return None;
    }
    let text = page(&file.to_string_lossy());
    let mut headings = prose(&text).filter_map(|(_, line)| line.strip_prefix('#'));
    let is_there = headings.any(|line| anchor(line.trim_start_matches('#')) == heading);
    (!is_there).then(|| format!("{} has no heading #{heading}", file.display()))
}

#[test]
fn every_link_between_documents_leads_to_a_file_and_a_heading() {
    let (mut followed, mut faults) = (0, Vec::new());
    for document in documents() {
        let text = page(&document);
        for (n, line) in prose(&text) {
            for target in targets(line).filter(|target| !target.contains("://")) {
                followed += 1;
                faults.extend(fault(&document, target).map(|fault| format!("{document}:{n}: {fault}")));
            }
        }
    }
    assert!(followed > 50, "only {followed} links were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(
        anchor(" Extraction: `remembrancer-bench extraction`"),
        "extraction-remembrancer-bench-extraction"
    );
}
