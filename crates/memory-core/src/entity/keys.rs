//! Keys that two names of one entity share: by these the few entities are found that a name is compared with.

use super::{EntityType, is_address, normalised_name};

/// A short all-capital word may be the initials of a name; of a person two letters will do.
const INITIALS_MAX: usize = 8;
/// So many first letters lead to short forms: "Postgres" and "PostgreSQL".
const START_CHARS: usize = 5;

/// The keys that an entity of this name is stored under and looked for by.
pub fn name_keys(entity_type: EntityType, name: &str) -> Vec<String> {
    let normalised = normalised_name(name);
    let words: Vec<String> = normalised.split_whitespace().map(letters).filter(|w| !w.is_empty()).collect();
    let mut keys = Vec::new();
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return keys };
    let initials: String = words.iter().filter_map(|word| word.chars().next()).collect();
    if entity_type == EntityType::Person {
        if normalised.starts_with('@') || is_address(&normalised) {
            return vec![format!("h:{}", handle(&normalised))];
        }
        keys.push(name_part_key(first));
        if words.len() > 1 {
            keys.push(name_part_key(last));
            keys.push(format!("i:{initials}"));
            keys.extend(handles(first, last).into_iter().map(|form| format!("h:{form}")));
        } else {
            keys.push(format!("h:{first}"));
            keys.extend(as_initials(name, 2).map(|initials| format!("i:{initials}")));
        }
    } else {
        let joined = words.concat();
        keys.push(format!("s:{}", without_legal_form(&words)));
        if joined.chars().count() > START_CHARS {
            keys.push(format!("p:{}", joined.chars().take(START_CHARS).collect::<String>()));
        }
        if words.len() > 2 && words.len() <= INITIALS_MAX {
            keys.push(format!("i:{initials}"));
        }
        keys.extend(as_initials(name, 3).map(|initials| format!("i:{initials}")));
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The key of people whose first or last name is this word.
pub fn name_part_key(word: &str) -> String {
    format!("w:{}", letters(&normalised_name(word)))
}

/// What a handle or the local part of an address is made of, for a person of these first and last names.
pub(crate) fn handles(first: &str, last: &str) -> [String; 3] {
    let initial = |word: &str| word.chars().take(1).collect::<String>();
    [format!("{first}{last}"), format!("{}{last}", initial(first)), format!("{first}{}", initial(last))]
}

/// The letters of a handle or of an address's local part.
pub(crate) fn handle(normalised: &str) -> String {
    let bare = normalised.trim_start_matches('@');
    let local = bare.split('@').next().unwrap_or(bare);
    letters(local.trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// A single word in capitals, as initials are written.
pub(crate) fn as_initials(name: &str, min: usize) -> Option<String> {
    let bare: String = name.trim().chars().filter(|c| *c != '.').collect();
    let count = bare.chars().count();
    let fits = (min..=INITIALS_MAX).contains(&count) && bare.chars().all(char::is_uppercase);
    fits.then(|| bare.to_lowercase())
}

pub(crate) fn letters(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn without_legal_form(words: &[String]) -> String {
    const LEGAL_FORMS: [&str; 12] =
        ["inc", "corp", "corporation", "co", "company", "ltd", "limited", "llc", "plc", "gmbh", "ag", "sa"];
    let words = match words {
        [the, rest @ ..] if the == "the" && !rest.is_empty() => rest,
        words => words,
    };
    match words {
        [rest @ .., form] if !rest.is_empty() && LEGAL_FORMS.contains(&form.as_str()) => rest.concat(),
        words => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(entity_type: EntityType, a: &str, b: &str) -> bool {
        let keys = name_keys(entity_type, b);
        name_keys(entity_type, a).iter().any(|key| keys.contains(key))
    }

    #[test]
    fn names_that_may_mean_one_person_share_a_key() {
        for other in ["Alice", "Chen", "A. Chen", "AC", "@achen", "@alice.chen2", "achen@x.org", "alice chen"]
        {
            assert!(share(EntityType::Person, "Alice Chen", other), "{other}");
        }
        for other in ["Bob", "@bob", "AX", "Alicia", "it"] {
            assert!(!share(EntityType::Person, "Alice Chen", other), "{other}");
        }
    }

    #[test]
    fn names_that_may_mean_one_thing_share_a_key() {
        let org = EntityType::Org;
        assert!(share(org, "Acme", "ACME Inc."));
        assert!(share(org, "Portfolio", "The Portfolio"));
        assert!(share(org, "International Business Machines", "IBM"));
        assert!(share(EntityType::Object, "PostgreSQL", "Postgres"));
        assert!(!share(org, "Acme", "Apex"));
        assert!(name_keys(org, "--").is_empty());
    }
}
