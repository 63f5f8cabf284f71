//! What a tool says of its arguments, in the words of the command line: `--min-score 0` for `min_score: 0`.

/// Arguments that no other word is written as, and what the command line calls them.
const OPTIONS: [(&str, &str); 13] = [
    ("artifact_id", "id"),
    ("conversation_id", "--conversation-id"),
    ("date_from", "--date-from"),
    ("date_to", "--date-to"),
    ("graph_budget", "--graph-budget"),
    ("include_superseded", "--include-superseded"),
    ("max_tokens", "--max-tokens"),
    ("min_importance", "--min-importance"),
    ("min_score", "--min-score"),
    ("next_cursor", "--cursor"),
    ("source_id", "--source-id"),
    ("threadId", "--thread"),
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
        match OPTIONS.iter().find(|(argument, _)| *argument == name) {
            Some((_, option)) if !quoted => {
                // As `min_score: 0` gives a value.
                let next = words.get(at + 1).copied().unwrap_or_default();
                let gives_value = behind == ":" && next.starts_with(|c: char| c.is_ascii_digit());
                out.push(format!("{option}{}", if gives_value { "" } else { behind }));
            }
            _ => out.push((*word).to_owned()),
        }
        if quoted && name.ends_with('\'') && (!opens || name.len() > 1) {
            quoted = false;
        }
    }
    out.join(" ")
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
                "Invalid date range: date_from 2026-02-01 is after date_to 2026-01-01. Swap them.",
                "Invalid date range: --date-from 2026-02-01 is after --date-to 2026-01-01. Swap them.",
            ),
            (
                "Context 'conversation' requires conversation_id and turn_index. Add both, or use context 'note'.",
                "Context 'conversation' requires --conversation-id and --turn-index. Add both, or use context 'note'.",
            ),
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
    fn every_argument_of_a_tool_that_is_no_common_word_has_an_option() {
        let tools = crate::tools::inputs();
        // Those that choose what is shown are no cause of a refusal.
        let silent = ["expand", "include_events", "include_entities", "explain", "state"];
        for tool in ["remember", "recall", "forget", "status"] {
            let is_named =
                |argument: &&String| argument.contains('_') && !silent.contains(&argument.as_str());
            for argument in tools[tool].iter().filter(is_named) {
                assert!(OPTIONS.iter().any(|(name, _)| name == argument), "{tool}: {argument}");
            }
        }
    }
}
