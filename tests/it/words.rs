//! Words that docs/STYLE.md has retired do not come back: not in documents, nor in comments, log lines and messages of
//! the code, nor as names in it.

use std::fs;
use std::path::{Path, PathBuf};

use memory_tests::documented::page;

/// Folders that are searched, and single pages beside them.
const FOLDERS: [&str; 3] = ["crates", "tools", "docs"];
const PAGES: [&str; 4] = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
const STYLE: &str = "docs/STYLE.md";
const SECTION: &str = "## Retired words";

/// Macros whose text people read.
const PRINTING: [&str; 12] = [
    "trace!(",
    "debug!(",
    "info!(",
    "warn!(",
    "error!(",
    "format!(",
    "print!(",
    "println!(",
    "write!(",
    "writeln!(",
    "bail!(",
    "anyhow!(",
];
const DEFINING: [&str; 8] = ["struct", "enum", "trait", "type", "fn", "mod", "const", "static"];

/// A word that is not used any more, and what is written instead.
struct Retired {
    word: String,
    instead: String,
}

/// The first two columns of the table in docs/STYLE.md; the words are those in backticks.
fn retired() -> Vec<Retired> {
    let style = page(STYLE);
    let (_, section) = style.split_once(SECTION).expect("docs/STYLE.md has the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut all = Vec::new();
    for row in section.lines().filter_map(|line| line.strip_prefix("| ")) {
        let mut cells = row.split(" | ");
        let (words, instead) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let words = words.split('`').skip(1).step_by(2);
        let instead = instead.trim_end_matches('|').trim();
        all.extend(words.map(|word| Retired { word: word.to_owned(), instead: instead.to_owned() }));
    }
    all
}

/// Whether the text has this word, or words, not as a part of another.
fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let goes_on_before = is_letter(before) && is_letter(word.chars().next());
        let goes_on_after = is_letter(after) && is_letter(word.chars().next_back());
        !goes_on_before && !goes_on_after
    })
}

/// Where the comment of a line begins: at the first mark that is not within quotes.
fn comment_start(line: &str, mark: &str) -> usize {
    let mut marks = line.match_indices(mark).map(|(at, _)| at);
    marks.find(|at| line[..*at].matches('"').count().is_multiple_of(2)).unwrap_or(line.len())
}

/// Of each line of Rust its comment and what it logs or prints.
fn text_of_rust(source: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut open_parentheses = 0_usize;
    for (n, line) in source.lines().enumerate() {
        let (code, comment) = line.split_at(comment_start(line, "//"));
        let printing = match open_parentheses {
            0 => PRINTING.iter().filter_map(|name| code.find(name).map(|at| at + name.len() - 1)).min(),
            _ => Some(0),
        };
        let printed = printing.map_or("", |from| &code[from..]);
        open_parentheses =
            (open_parentheses + printed.matches('(').count()).saturating_sub(printed.matches(')').count());
        lines.push((n + 1, format!("{printed} {comment}")));
    }
    lines
}

/// The part of each line that people read, with its number.
fn text_of(path: &str, content: &str) -> Vec<(usize, String)> {
    let numbered = content.lines().enumerate().map(|(n, line)| (n + 1, line));
    match Path::new(path).extension().and_then(|ending| ending.to_str()) {
        Some("rs") => text_of_rust(content),
        Some("sql") => numbered.map(|(n, line)| (n, line[comment_start(line, "--")..].to_owned())).collect(),
        // The list itself is left out.
        _ if path == STYLE => {
            let listed = content.split_once(SECTION).map_or(usize::MAX, |(before, _)| before.lines().count());
            numbered.filter(|(n, _)| *n <= listed).map(|(n, line)| (n, line.to_owned())).collect()
        }
        _ => numbered.map(|(n, line)| (n, line.to_owned())).collect(),
    }
}

/// Whether a line of Rust defines something by this name.
fn defines(line: &str, name: &str) -> bool {
    DEFINING.iter().any(|keyword| has_word(line, &format!("{keyword} {name}")))
}

/// Where a file has a retired word, as `file:line: …`.
fn faults(path: &str, content: &str, retired: &[Retired]) -> Vec<String> {
    let mut faults = Vec::new();
    let is_rust = Path::new(path).extension().is_some_and(|ending| ending == "rs");
    for ((n, text), line) in text_of(path, content).iter().zip(content.lines()) {
        for Retired { word, instead } in retired {
            if line.contains(word) && (has_word(text, word) || is_rust && defines(line, word)) {
                faults.push(format!("{path}:{n}: `{word}` is retired, write {instead}: {}", line.trim()));
            }
        }
    }
    faults
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Rust, SQL and Markdown below a folder, by their paths in the repository.
fn files_below(folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(repository().join(folder)).expect("the folder is there") {
        let entry = entry.expect("it is listed");
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        let ending = Path::new(&path).extension().and_then(|ending| ending.to_str());
        if entry.file_type().expect("a type").is_dir() {
            files_below(&path, found);
        } else if matches!(ending, Some("rs" | "sql" | "md")) {
            found.push(path);
        }
    }
}

#[test]
fn words_that_the_style_retires_do_not_come_back() {
    let retired = retired();
    assert!(retired.len() >= 10, "only {} retired words were read", retired.len());
    assert!(retired.iter().all(|entry| !entry.word.is_empty() && !entry.instead.is_empty()));
    let mut files = PAGES.map(str::to_owned).to_vec();
    for folder in FOLDERS {
        files_below(folder, &mut files);
    }
    assert!(files.len() > 300, "only {} files were found", files.len());
    files.sort_unstable();
    let faults: Vec<String> = files.iter().flat_map(|path| faults(path, &page(path), &retired)).collect();
    assert!(faults.is_empty(), "{} places:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn retired_words_are_found_where_people_read_them_and_as_names() {
    let retired = ["InstancePaths", "«", "side door"]
        .map(|word| Retired { word: word.to_owned(), instead: "something else".to_owned() });
    let places = |path: &str, content: &str| -> Vec<String> {
        let faults = faults(path, content, &retired);
        faults.iter().map(|fault| fault.split(": ").take(2).collect::<Vec<_>>().join(": ")).collect()
    };
    let rust = [
        "let open = '«'; // a set of quotes",
        "let url = \"https://example.com/«\";",
        "/// Closes the side door.",
        "struct InstancePaths;",
        "struct MeetingPoint;",
        "tracing::warn!(",
        "    \"«{}» is late\",",
        "    name(),",
        ");",
        "let text = \"InstancePaths\";",
    ]
    .join("\n");
    assert_eq!(
        places("crates/a/src/lib.rs", &rust),
        [
            "crates/a/src/lib.rs:3: `side door` is retired, write something else",
            "crates/a/src/lib.rs:4: `InstancePaths` is retired, write something else",
            "crates/a/src/lib.rs:7: `«` is retired, write something else",
        ]
    );
    assert_eq!(
        places("crates/a/src/sql/b.sql", "select '«' -- «a»\nfrom t"),
        ["crates/a/src/sql/b.sql:1: `«` is retired, write something else"]
    );
    assert_eq!(
        places("docs/a.md", "A InstancePaths.\nMeetings."),
        ["docs/a.md:1: `InstancePaths` is retired, write something else"]
    );
    let style = format!("Not «this».\n\n{SECTION}\n\n| `«` | quotes |\n");
    assert_eq!(places(STYLE, &style), ["docs/STYLE.md:1: `«` is retired, write something else"]);
}
