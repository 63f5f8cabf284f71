//! Links of Markdown: of "[the notes](https://example.org/7)" the words are read.

/// Longer words, in bytes, are no label of a link, and no address is longer.
const LABEL_MAX: usize = 200;
const ADDRESS_MAX: usize = 2_000;
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// How long the marks at a byte are: the bracket before the words of a link, or all that stands behind them.
pub(super) fn marks(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    if let Some(words) = rest.strip_prefix('[') {
        let is_image = text[..at].ends_with('!');
        let label = until(words, LABEL_MAX, ']')?;
        let is_link = !is_image && !label.trim().is_empty() && !label.contains('[');
        return (is_link && behind(&words[label.len()..]).is_some()).then_some(1);
    }
    let length = behind(rest)?;
    let start = text.floor_char_boundary(at.saturating_sub(LABEL_MAX));
    let open = start + text[start..at].rfind(['[', ']', '\n'])?;
    (marks(text, open) == Some(1)).then_some(length)
}

/// The length of "](https://example.org/7)" at the beginning.
fn behind(rest: &str) -> Option<usize> {
    let address = rest.strip_prefix("](")?;
    SCHEMES.iter().any(|scheme| address.starts_with(scheme)).then_some(())?;
    let address = until(address, ADDRESS_MAX, ')')?;
    Some("](".len() + address.len() + ")".len())
}

/// What stands before the first `end`, if that comes soon, in the same line.
fn until(text: &str, most: usize, end: char) -> Option<&str> {
    let near = &text[..text.floor_char_boundary(most)];
    let at = near.find([end, '\n'])?;
    near[at..].starts_with(end).then(|| &near[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_the_words_of_a_link_is_markup() {
        let text = "[@ana](https://example.org/ana) added it";
        assert_eq!(marks(text, 0), Some(1));
        assert_eq!(marks(text, 5), Some("](https://example.org/ana)".len()));
        for text in [
            "[x] done",
            "[a](b)",
            "[a] (https://example.org)",
            "![a](https://example.org)",
            "[](https://e.org)",
            "[a\n](https://e.org)",
        ] {
            let brackets = text.match_indices(['[', ']']).map(|(at, _)| marks(text, at));
            assert!(brackets.flatten().next().is_none(), "{text}");
        }
    }
}
