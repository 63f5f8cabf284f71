//! Entities: the people, organisations and things that events are about.

use crate::event::closed_set;

closed_set! {
    EntityType {
        Person = "person",
        Org = "org",
        Project = "project",
        Object = "object",
        Place = "place",
        Other = "other",
    }
}

/// The form names are compared in: lower case, single spaces, no surrounding punctuation.
pub fn normalised_name(name: &str) -> String {
    let trimmed = name.trim_matches(|c: char| {
        c.is_whitespace() || (c.is_ascii_punctuation() && !matches!(c, '@' | '#' | '+'))
    });
    trimmed.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::normalised_name;

    #[test]
    fn names_compare_without_case_spaces_and_surrounding_punctuation() {
        assert_eq!(normalised_name("  Alice   CHEN, "), "alice chen");
        assert_eq!(normalised_name("@alice"), "@alice");
        assert_eq!(normalised_name("C++"), "c++");
    }
}
