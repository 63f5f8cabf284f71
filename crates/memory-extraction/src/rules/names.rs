//! Word lists about names: common first names, and capitalised words that are no names.

use super::lists;
use super::sections;
use super::verbs;

/// Whether a lower-case word is a first name and hardly anything else.
pub(super) fn is_first_name(word: &str) -> bool {
    lists::FIRST_NAMES.contains(word)
}

/// Whether a lower-case word is a name and an ordinary word.
pub(super) fn is_wordy_name(word: &str) -> bool {
    lists::WORDY_NAMES.contains(word)
}

/// Whether a lower-case word is known not to be a name.
pub(super) fn is_no_name(word: &str) -> bool {
    lists::NOT_NAMES.contains(word) && !lists::WORDY_NAMES.contains(word)
}

/// Whether a lower-case word is an ordinary one: "concerns", "merge", "attendees". Names that are words too are not asked for.
pub(super) fn is_common_word(word: &str) -> bool {
    let known = |word: &str| {
        is_no_name(word)
            || verbs::of(word).is_some()
            || sections::of_label(word).is_some()
            || [
                &lists::TROUBLES,
                &lists::PUBLIC,
                &lists::ROLES,
                &lists::TEAMS,
                &lists::DEPARTMENTS,
                &lists::OTHER_PEOPLE,
            ]
            .iter()
            .any(|list| list.contains(word))
    };
    known(word) || word.strip_suffix('s').is_some_and(|one| one.len() > 2 && known(one))
}

/// "Signed-off-by", "Acked-by": what names follow in a commit's message.
pub(super) fn is_trailer(label: &str) -> bool {
    label.to_lowercase().ends_with("-by")
}

/// "rs", "json": what stands behind the last point of a file's name.
pub(super) fn is_file_ending(word: &str) -> bool {
    const ENDINGS: [&str; 27] = [
        "c", "cfg", "cpp", "css", "csv", "docx", "go", "h", "html", "ini", "java", "js", "json", "lock",
        "log", "md", "pdf", "png", "py", "rs", "sh", "sql", "toml", "ts", "txt", "xlsx", "yaml",
    ];
    ENDINGS.contains(&word)
}

/// Whether a lower-case word stands before the names of people.
pub(super) fn is_title(word: &str) -> bool {
    lists::TITLES.contains(word)
}

/// "Dr. Tunde Adebayo" as "Tunde Adebayo".
pub(super) fn without_title(name: &str) -> &str {
    let mut name = name.trim();
    while let Some((first, rest)) = name.split_once(' ') {
        let bare = first.trim_end_matches('.').to_lowercase();
        // "Sister" and "Coach" may be all there is of a name's head; what follows must be a name.
        if !is_title(&bare) || !rest.trim_start().starts_with(char::is_uppercase) {
            break;
        }
        name = rest.trim_start();
    }
    name
}

/// Endings that names of people hardly have.
fn ends_like_a_word(word: &str) -> bool {
    const ENDINGS: [&str; 13] = [
        "ing", "tion", "sion", "ment", "ness", "ity", "ance", "ence", "ship", "able", "less", "ware", "ally",
    ];
    word.len() > 5 && ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// A capital inside of a word stands behind a mark or what such names begin with.
fn has_capital_of_a_name(word: &str) -> bool {
    const HEADS: [&str; 11] = ["Mc", "Mac", "De", "Del", "Di", "Du", "Fitz", "La", "Le", "Van", "Von"];
    let Some((at, _)) = word.char_indices().skip(1).find(|(_, c)| c.is_uppercase()) else { return true };
    let head = &word[..at];
    HEADS.contains(&head) || !head.ends_with(char::is_alphabetic)
}

/// Whether a word can be a part of a name: a capital, letters, not a known word.
pub(super) fn could_be_part(word: &str) -> bool {
    let lower = word.to_lowercase();
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let inner = word.chars().skip(1).filter(|c| c.is_uppercase()).count();
    word.starts_with(char::is_uppercase)
        && (2..=20).contains(&letters)
        // `API`, `GraphQL`, `PyCon`; but `McDonald`, `O'Brien`, `Jean-Luc`.
        && inner <= 1
        && (inner == 0 || (letters > 2 && has_capital_of_a_name(word)))
        && word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
        && (is_first_name(&lower) || (!is_no_name(&lower) && !ends_like_a_word(&lower)))
}

/// Whether a whole string can be a person's name; in `loose` places lower case is accepted too.
pub(super) fn could_be_name(name: &str, loose: bool) -> bool {
    const PARTICLES: [&str; 14] =
        ["de", "van", "von", "der", "den", "da", "di", "del", "la", "al", "bin", "ten", "dos", "el"];
    let words: Vec<&str> = name.split_whitespace().collect();
    // After a sure first name any capitalised word is a last name: "Mina Park".
    let first_known = words.first().is_some_and(|word| is_first_name(&word.to_lowercase()));
    let lower_first = words.first().is_some_and(|word| word.starts_with(char::is_lowercase));
    (1..=4).contains(&words.len())
        && words.iter().all(|word| {
            let bare = word.trim_matches('.');
            could_be_part(bare)
                || (first_known
                    && bare.starts_with(char::is_uppercase)
                    && bare.chars().all(|c| c.is_alphabetic() || c == '-'))
                || PARTICLES.contains(&bare)
                || (bare.chars().count() == 1 && bare.starts_with(char::is_uppercase) && words.len() > 1)
                || (loose
                    && bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))
                    && !is_no_name(&bare.to_lowercase()))
        })
        && (loose || !lower_first)
}

/// "Dana Ortiz (design)", "**Dana Ortiz** - chair" without what stands behind the name.
pub(super) fn without_aside(name: &str) -> &str {
    let end = [", ", " - ", " – ", " — ", ": ", " | "].iter().filter_map(|mark| name.find(mark)).min();
    name[..end.unwrap_or(name.len())]
        .split(['(', '[', '<', '@'])
        .next()
        .unwrap_or(name)
        .trim()
        .trim_matches(['*', '_', '"', '.', ' '])
}

/// A given name at the head: one that is also a word only where more follows.
pub(super) fn begins_with_first_name(name: &str) -> bool {
    let first = name.split_whitespace().next().unwrap_or_default().to_lowercase();
    is_first_name(&first) || (name.contains(' ') && is_wordy_name(&first))
}

/// The name of one person, as lists have them.
pub(super) fn is_listed_name(name: &str) -> bool {
    name.contains(' ') && is_listed_form(name)
}

/// A name by its form, without ordinary words.
pub(super) fn is_listed_form(name: &str) -> bool {
    could_be_name(name, false)
        && (begins_with_first_name(name)
            || is_wordy_name(&name.to_lowercase())
            || !name.split_whitespace().any(|word| is_common_word(&word.to_lowercase())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_other_capitalised_words() {
        for name in [
            "Alice Chen",
            "Priya",
            "Tomás García",
            "Jean-Luc O'Brien",
            "Ludwig van Beethoven",
            "J. Smith",
            "Mark",
        ] {
            assert!(could_be_name(name, false), "{name}");
        }
        for other in [
            "Action Items",
            "API",
            "GraphQL",
            "Platform Team",
            "Budget",
            "2024",
            "the plan",
            "Monitoring",
            "a",
        ] {
            assert!(!could_be_name(other, false), "{other}");
        }
    }
}
