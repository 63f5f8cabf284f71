//! From when and until when a statement holds belongs to it, and so does of what it is.

use super::*;

#[test]
fn from_when_until_when_it_holds_is_told() {
    for text in [
        "From Dec 3 until Dec 12 reply to me in Italian",
        "From 3 to 12 December, reply in Italian",
        "Between March 1 and March 15 keep answers short",
        "Starting Monday, answer in French",
        "Starting on 4 May keep your answers short",
        "As of next week call me Dr. Brandt",
        "Until the end of August, answer in French",
        "For the next two weeks answer me in Dutch",
        "Through June keep answers under 100 words",
        "answer me in Spanish from May 2 until May 9",
        "Answer in French, but only until 12 May",
        "keep answers short (until 3 March)",
        "Answer in Polish from June 4 – June 9",
        "Please use metric units starting next Monday, until the end of the month",
    ] {
        let found = quotes(text);
        let whole = text.trim_start_matches("Please ");
        assert!(found == [text] || found == [whole], "{text}: {found:?}");
    }
    for text in [
        "I was in Rome from May 2 until May 9. From now on answer in French.",
        "We met on Monday, and from now on answer in French",
    ] {
        let found = quotes(text);
        assert!(found.len() == 1 && found[0].to_lowercase() == "from now on answer in french", "{found:?}");
    }
}

#[test]
fn brackets_are_whole() {
    let new = NewArtifact::new(said(
        "preference",
        "Sundays no (she sings too, and wants her Sunday). Instead Fridays.",
    ));
    let new = new.expect("it can be stored");
    let sure = SentenceLogits { states: [9.0; 3], ..NOTHING };
    let judged = vec![sure; sentences_to_judge(&new.content, &new.meta).len()];
    let found = find_judged_directives(&new.content, &new.meta, &judged).directives;
    assert!(found[0].quote.ends_with("wants her Sunday)"), "{found:?}");

    let text = "Bartek doesn't eat anything with gluten (coeliac, not a fad), no garlic for Sofie";
    let sentence = Sentence::new(text, 0..text.len());
    let opened = (0..sentence.len()).find(|at| sentence.mark(*at) == Some("(")).expect("it is there");
    let end = sentence.len();
    assert_eq!(crate::directive::bounds::with_whole_brackets(&sentence, (opened + 1, end)), (0, end));
    assert_eq!(crate::directive::bounds::with_whole_brackets(&sentence, (0, end)), (0, end));
    let smiling = "I'm on the train, so please keep answers short :)";
    let smiling = Sentence::new(smiling, 0..smiling.len());
    let tokens = (6, smiling.len());
    assert_eq!(crate::directive::bounds::with_whole_brackets(&smiling, tokens), tokens);
}

#[test]
fn for_what_something_holds_is_told() {
    for (text, condition) in [
        ("pull request titles: no emojis", "pull request titles"),
        ("commit messages: never use emojis", "commit messages"),
        ("Release notes: never use jargon", "Release notes"),
        ("commit messages - no emojis", "commit messages"),
        ("commit messages — no exclamation marks ever", "commit messages"),
        ("Emails: no emojis, no exclamation marks", "Emails"),
        ("In the changelog: no emojis", "In the changelog"),
        ("for commit messages, no emojis", "for commit messages"),
        ("no emojis in commit messages", "in commit messages"),
    ] {
        for voice in ["user", "preference"] {
            let found = found(said(voice, text));
            assert!(!found.is_empty(), "{text}");
            for one in found {
                assert!(!one.is_general, "{voice}: {one:?}");
                let is_told = one.quote.to_lowercase().contains(&condition.to_lowercase())
                    || one.condition.as_deref() == Some(condition);
                assert!(is_told, "{voice}: {one:?}");
            }
        }
    }
    let of_one = |text: &str| found(said("user", text)).remove(0);
    assert_eq!(of_one("commit messages: no emojis").condition.as_deref(), Some("commit messages"));
    assert_eq!(of_one("Reminder: no emojis please").condition, None);
}

#[test]
fn no_two_statements_of_a_text_begin_at_one_place() {
    let text = "Always use tabs (never spaces, always four wide), never use emojis), always sign with MB";
    let new = NewArtifact::new(said("user", text)).expect("it can be stored");
    let sure = SentenceLogits { states: [9.0; 3], ..NOTHING };
    let judged = vec![sure; sentences_to_judge(&new.content, &new.meta).len()];
    let found = find_judged_directives(&new.content, &new.meta, &judged).directives;
    assert!(
        !found.is_empty() && found.windows(2).all(|two| two[0].span.start < two[1].span.start),
        "{found:?}"
    );
}
