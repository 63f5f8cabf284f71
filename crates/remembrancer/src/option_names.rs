//! What a tool says of its arguments, in the words of the command line: `--min-score 0` for `min_score: 0`.

/// Each argument that tools name, and what the command line calls it.
const OPTIONS: [(&str, &str); 34] = [
    ("artifact_id", "id"),
    ("author", "--author"),
    ("categories", "--category"),
    ("category", "--category"),
    ("confirm", "--confirm"),
    ("content", "content"),
    ("context", "--context"),
    ("conversation_id", "--conversation-id"),
    ("cursor", "--cursor"),
    ("date", "--date"),
    ("date_from", "--date-from"),
    ("date_to", "--date-to"),
    ("detail", "--full"),
    ("graph_budget", "--graph-budget"),
    ("id", "--id"),
    ("importance", "--importance"),
    ("include_superseded", "--include-superseded"),
    ("limit", "--limit"),
    ("max_tokens", "--max-tokens"),
    ("min_importance", "--min-importance"),
    ("min_score", "--min-score"),
    ("neighbours", "--neighbours"),
    ("next_cursor", "--cursor"),
    ("order", "--newest-first"),
    ("owner", "--owner"),
    ("participants", "--participant"),
    ("query", "query"),
    ("role", "--role"),
    ("source", "--source"),
    ("source_id", "--source-id"),
    ("tags", "--tag"),
    ("threadId", "--thread"),
    ("title", "--title"),
    ("turn_index", "--turn-index"),
];

/// Sentences that are said otherwise as a whole.
const SENTENCES: [(&str, &str); 2] = [
    (
        "Must provide query, id, or conversation_id",
        "Must provide words to look for, --id, or --conversation-id",
    ),
    ("confirm=true", "--confirm"),
];

/// A tool's text with options in the place of arguments. What it quotes stays as it is.
pub(crate) fn as_options(said: &str) -> String {
    let said = SENTENCES.iter().fold(said.to_owned(), |said, (from, to)| said.replace(from, to));
    let words: Vec<&str> = said.split(' ').collect();
    let mut out: Vec<String> = Vec::with_capacity(words.len());
    let mut quoted = false;
    for (at, word) in words.iter().enumerate() {
        let opens = !quoted && word.starts_with('\'');
        quoted |= opens;
        let name = word.trim_end_matches(['.', ',', ':', ';']);
        let behind = &word[name.len()..];
        let before = at.checked_sub(1).and_then(|at| words.get(at)).copied().unwrap_or_default();
        let next = words.get(at + 1).copied().unwrap_or_default();
        match OPTIONS.iter().find(|(argument, _)| *argument == name) {
            Some((_, option)) if !quoted && is_argument(name, behind, before, next) => {
                // `min_score: 0` is a value, `Invalid query: it is empty` is not.
                let gives_value = behind == ":" && next.starts_with(|c: char| c.is_ascii_digit());
                let behind = if gives_value && name.contains('_') { "" } else { behind };
                out.push(format!("{option}{behind}"));
            }
            _ => out.push((*word).to_owned()),
        }
        let text = word.trim_end_matches(['.', ',', ':', ';']);
        if quoted && text.ends_with('\'') && (!opens || text.len() > 1) {
            quoted = false;
        }
    }
    out.join(" ")
}

/// Whether a word that an argument is named by means the argument here.
fn is_argument(name: &str, behind: &str, before: &str, next: &str) -> bool {
    if before == "has" {
        // "No text has author 'Ann'" speaks of texts.
        return false;
    }
    let has_value = behind == ":" || next.starts_with(|c: char| c == '\'' || c == '-' || c.is_ascii_digit());
    name.contains('_')
        || name == "threadId"
        || (matches!(before, "Invalid" | "use") && has_value)
        || matches!(before, "Leave" | "leave" | "without" | "as")
        || matches!(next, "was" | "says")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_called_as_the_options_that_give_them() {
        for (said, shown) in [
            (
                "3 results that score under 0.15 are left out; min_score: 0 shows them.",
                "3 results that score under 0.15 are left out; --min-score 0 shows them.",
            ),
            (
                "Must provide query, id, or conversation_id",
                "Must provide words to look for, --id, or --conversation-id",
            ),
            (
                "Invalid limit 0. Use a whole number from 1 to 50.",
                "Invalid --limit 0. Use a whole number from 1 to 50.",
            ),
            ("Invalid context 'x y'. Must be one of: a, b", "Invalid --context 'x y'. Must be one of: a, b"),
            ("Invalid tags: 70 items, the limit is 64.", "Invalid --tag: 70 items, the limit is 64."),
            (
                "Invalid date range: date_from 2026-02-01 is after date_to 2026-01-01. Swap them.",
                "Invalid date range: --date-from 2026-02-01 is after --date-to 2026-01-01. Swap them.",
            ),
            (
                "query was ignored: id says what is wanted. Leave id out to search.",
                "query was ignored: --id says what is wanted. Leave --id out to search.",
            ),
            (
                "Context 'conversation' requires conversation_id and turn_index. Add both, or use context 'note'.",
                "Context 'conversation' requires --conversation-id and --turn-index. Add both, or use --context 'note'.",
            ),
            (
                "order was ignored: it is for the turns of a conversation_id without a query.",
                "--newest-first was ignored: it is for the turns of a --conversation-id without a query.",
            ),
            ("Ask the question again without cursor.", "Ask the question again without --cursor."),
            ("Call again with confirm=true.", "Call again with --confirm."),
            ("Invalid artifact_id evt_1: it is an event.", "Invalid id evt_1: it is an event."),
        ] {
            assert_eq!(as_options(said), shown);
        }
    }

    #[test]
    fn values_and_words_of_the_language_stay_as_they_are() {
        for said in [
            "No text of this namespace has tag 'the min_score of it'. Tags there are: date, source.",
            "No text of this namespace has author 'id'. Authors there are: Ann.",
            "Invalid ID format. Use art_xxx or evt_xxx. Got: doc_1",
            "Content not found: art_000000000000. It may be forgotten already; recall finds what is there.",
        ] {
            assert_eq!(as_options(said), said);
        }
    }

    #[test]
    fn every_argument_of_a_tool_with_a_command_has_an_option() {
        let tools = crate::tools::inputs();
        // Those that choose what is shown are no cause of a refusal.
        let silent = ["expand", "include_events", "include_entities", "explain", "state"];
        for tool in ["remember", "recall", "forget", "status"] {
            for argument in tools[tool].iter().filter(|argument| !silent.contains(&argument.as_str())) {
                assert!(OPTIONS.iter().any(|(name, _)| name == argument), "{tool}: {argument}");
            }
        }
    }
}
