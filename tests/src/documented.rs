//! The command lines that the documentation shows.

use std::path::{Path, PathBuf};

/// A command line of `remembrancer`, without its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Where it stands: file and line.
    pub place: String,
    pub arguments: Vec<String>,
}

/// A block of code: its language, where it begins, and its lines.
pub struct Block {
    pub language: String,
    pub line: usize,
    pub lines: Vec<String>,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A page of the repository.
pub fn page(path: &str) -> String {
    let path = repository().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// README and all guides, by their paths in the repository.
pub fn pages() -> Vec<String> {
    let guides = std::fs::read_dir(repository().join("docs/guides")).expect("there are guides");
    let names = guides.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut pages: Vec<String> = names.map(|name| format!("docs/guides/{name}")).collect();
    pages.extend(["README.md", "docs/settings.md", "docs/archive-format.md"].map(str::to_owned));
    pages.sort_unstable();
    pages
}

/// The fenced blocks of a page.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (n, line) in page.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                open = Some(Block { language: language.to_owned(), line: n + 1, lines: Vec::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.lines.push(line.trim_start().to_owned()),
            (None, None) => {}
        }
    }
    blocks
}

/// Every command line of a page, in blocks and amid sentences.
pub fn shown(path: &str) -> Vec<Shown> {
    let page = page(path);
    let mut all = Vec::new();
    for block in blocks(&page) {
        for (n, line) in block.lines.iter().enumerate() {
            let place = format!("{path}:{}", block.line + n + 1);
            let is_command = block.language != "console" || line.starts_with("$ ");
            if is_command && !block.language.starts_with("json") {
                all.extend(commands_of(line.trim_start_matches("$ "), &place));
            }
        }
    }
    // Configurations stand in blocks or in cells of tables.
    for (n, line) in page.lines().enumerate() {
        all.extend(configured(line, &format!("{path}:{}", n + 1)));
    }
    let mut is_block = false;
    for (n, line) in page.lines().enumerate() {
        is_block ^= line.trim_start().starts_with("```");
        for span in line.split('`').skip(1).step_by(2).filter(|_| !is_block) {
            all.extend(commands_of(span, &format!("{path}:{}", n + 1)));
        }
    }
    all
}

/// `"command": "/path/to/remembrancer", "args": ["stdio"]`
fn configured(line: &str, place: &str) -> Option<Shown> {
    let (_, rest) = line.split_once("remembrancer\", \"args\": [")?;
    let (list, _) = rest.split_once(']')?;
    let arguments = list.split(',').map(|word| word.trim().trim_matches('"').to_owned()).collect();
    Some(Shown { place: place.to_owned(), arguments })
}

/// The commands of a line of the shell, or of a span amid a sentence.
fn commands_of(line: &str, place: &str) -> Vec<Shown> {
    let words = words(line);
    // A script that is given the name of the program as an argument is another matter.
    if words
        .first()
        .is_some_and(|first| std::path::Path::new(first).extension().is_some_and(|ending| ending == "py"))
    {
        return Vec::new();
    }
    let mut all = Vec::new();
    for command in words.split(|word| word == "|" || word == "&&" || word == ";") {
        let named = command.iter().position(|word| is_program(word));
        let Some(arguments) = named.map(|at| &command[at + 1..]).filter(|rest| !rest.is_empty()) else {
            continue;
        };
        let redirected = arguments.iter().position(|word| word == ">" || word == "<");
        let arguments = &arguments[..redirected.unwrap_or(arguments.len())];
        // `jobs list|show` names two commands.
        let alternatives = arguments.iter().map(|word| word.split('|').count()).max().unwrap_or(1);
        for n in 0..alternatives {
            let chosen = arguments.iter().map(|word| word.split('|').nth(n).unwrap_or(word));
            let chosen = chosen.map(|word| word.trim_matches(['[', ']']).to_owned()).collect();
            all.push(Shown { place: place.to_owned(), arguments: chosen });
        }
    }
    all
}

fn is_program(word: &str) -> bool {
    word == "remembrancer" || word.ends_with("/remembrancer")
}

/// The words of a line as a shell divides them, up to a comment.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() => break,
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<Vec<String>> {
        commands_of(line, "").into_iter().map(|shown| shown.arguments).collect()
    }

    #[test]
    fn command_lines_are_found_as_a_shell_reads_them() {
        assert_eq!(of("QDRANT_URL=http://localhost:6334 remembrancer serve  # with it"), [["serve"]]);
        assert_eq!(
            of("echo \"a | b\" | /path/to/remembrancer remember --title 'A b'"),
            [["remember", "--title", "A b"]]
        );
        assert_eq!(of("claude mcp add memory -- /path/to/remembrancer stdio"), [["stdio"]]);
        assert_eq!(of("remembrancer jobs list|show"), [["jobs", "list"], ["jobs", "show"]]);
        assert_eq!(of("remembrancer serve [--bind ADDRESS]"), [["serve", "--bind", "ADDRESS"]]);
        assert!(of("cargo build -p remembrancer").is_empty() && of("remembrancer").is_empty());
        let json = r#"{"memory": {"command": "/path/to/remembrancer", "args": ["--read-only", "stdio"]}}"#;
        assert_eq!(configured(json, "").expect("one").arguments, ["--read-only", "stdio"]);
    }
}
