use super::*;

/// The errors of an entity that is in order but for these observations.
fn observation_errors(observations: &[&str]) -> Vec<String> {
    checked(&[draft("Log", "File", observations, &[("Log", "is")])]).entities.remove(0).errors
}

#[test]
fn observations_are_counted_in_characters_and_split_at_sentence_ends() {
    assert_eq!(observation_errors(&[&"é".repeat(300)]), Vec::<String>::new());
    let unbroken = observation_errors(&[&"é".repeat(301)]);
    assert_eq!(
        unbroken[0],
        format!(
            "Observation 0 (\"{}…\"): Too long, 301 characters, at most 300. It is one unbroken value: say what it \
             is and where it is found instead.",
            "é".repeat(39)
        )
    );
    assert_eq!(
        observation_errors(&["Fine here", "Ask Bob. Then Ann. Then Zoe. Then Max."]),
        [
            "Observation 1 (\"Ask Bob. Then Ann. Then Zoe. Then Max.\"): Too many sentences, 4, at most 3. Split into 4 \
          observations: 1) 'Ask Bob.' 2) 'Then Ann.' 3) 'Then Zoe.' 4) 'Then Max.'."
        ]
    );
    let two = format!("{} ends. {} too.", "long ".repeat(30).trim(), "word ".repeat(35).trim());
    let found = observation_errors(&[&two]).remove(0);
    assert!(
        found.contains("Too long, 335 characters, at most 300. Split into 2 observations: 1) 'long"),
        "{found}"
    );
    let both = "It is so very long, and nobody will read it to its end today. ".repeat(8);
    let found = observation_errors(&[&both]).remove(0);
    assert!(
        found.contains("Too long, 495 characters, at most 300; too many sentences, 8, at most 3."),
        "{found}"
    );
    assert!(found.contains(" 6) '") && found.ends_with(", and so on."), "{found}");
    let clauses = format!("{}, and {}", "first part ".repeat(15).trim(), "second part ".repeat(13).trim());
    let found = observation_errors(&[&clauses]).remove(0);
    assert!(found.contains("in 2 observations, for example with a new one from 'and second part"), "{found}");
    let uneven = format!("Short. {}", "word ".repeat(70));
    assert!(observation_errors(&[&uneven])[0].contains("Shorten the one numbered 2, which alone has 349"));
}

#[test]
fn technical_values_are_no_reason_to_refuse() {
    for text in [
        "URL: https://dvdat-uks-01-es.develastic.nidemo.com/",
        "Server=tcp:x.database.windows.net,1433;Database=y;User ID=z.q;Encrypt=True;",
        "Connected to ni-internal-dev.servicebus.windows.net successfully",
        "Log at C:\\Program Files\\App\\app.log. It grows. Rotated daily.",
    ] {
        assert_eq!(observation_errors(&[text]), Vec::<String>::new());
    }
}

#[test]
fn the_older_limits_can_be_set() {
    let limits = AuthoringLimits { observation_chars: 150, observation_sentences: 2, ..Default::default() };
    let text = "This is a very long observation that contains multiple facts and exceeds the maximum allowed length \
                of 150 characters which will cause validation to fail";
    let drafts = [draft("Test", "Example", &[text, "One. Two. Three."], &[("Test", "related")])];
    let found = check(&drafts, &ThreadNames::default(), &limits);
    let errors = &found.entities[0].errors;
    assert!(errors[0].contains("Too long, 153 characters, at most 150. It is one sentence"), "{errors:?}");
    assert!(errors[1].contains("Too many sentences, 3, at most 2."), "{errors:?}");
    assert_eq!(
        found.entities[0].observation_issues[0].observation,
        "This is a very long observation that contains mult…"
    );
}

#[test]
fn thin_or_repeated_observations_get_a_warning_and_are_kept_once() {
    let found = checked(&[draft("A1", "Thing", &["Good", " Uses Rust ", "Uses Rust"], &[("A1", "is")])]);
    assert!(found.is_valid());
    assert_eq!(
        found.entities[0].warnings[..2],
        [
            "Observation 0 (\"Good\"): Very short, 4 characters. Write the whole fact, so that it can be understood \
             on its own.",
            "Observation 2 (\"Uses Rust\"): The same as observation 1; it is stored once."
        ]
    );
    assert_eq!(found.authored[0].observations, ["Good", "Uses Rust"]);
}
