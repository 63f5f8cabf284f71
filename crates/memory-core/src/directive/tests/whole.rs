//! That a directive is the whole of what is wanted, and only that.

use super::*;

fn kept(content: &str) -> Vec<String> {
    found(said("preference", content)).into_iter().map(|directive| directive.quote).collect()
}

fn noted(content: &str) -> Vec<String> {
    found(said("note", content)).into_iter().map(|directive| directive.quote).collect()
}

#[test]
fn marks_within_code_and_abbreviations_end_no_directive() {
    for text in [
        "Never commit *.pem or .env files.",
        "Don't use std::env::var in lib code, pass a Config.",
        "Don't call .unwrap() outside tests.",
        "Run `cargo clippy -- -D warnings` before every push.",
        "Tests go in tests/test_*.py, never next to the code.",
        "Always run cargo fmt --all before committing.",
        "Never use `!important` in CSS.",
        "Never use #[allow(unused)] in new code.",
        "Use foo(a, b) -> Result<(), E> everywhere, not panics.",
        "Put secrets in $HOME/.secrets, not in .env.",
        "Use tests/**/*.rs for integration tests.",
        "Use @app/ui imports, never ../../ui.",
        "Name branches feature/<ticket>-<slug>.",
        "Always use SI units, e.g. metres, in the reports.",
        "Never deploy on weekends, i.e. Saturday and Sunday, without asking.",
        "Always cite the spec v. 2.1 when I ask about the format.",
        "Always ask Prof. Lindqvist before changing the syllabus.",
        "Always use this order: imports, constants, functions.",
        "Commit messages follow type(scope): subject.",
        "Never say \"well... maybe\" in reports.",
        "Use Poetry (not pip) for Python.",
        "Prices as 1,299.50 EUR, dates as 2026-01-31.",
        "Use `docker compose` (v2), not `docker-compose`.",
        "Bump docs/openapi.yaml (v3.1) in every PR.",
        "Always use port 5433 (PGPORT=5433) for the local database.",
        "Always use `uv run`, e.g. `uv run pytest -q`.",
        "Always write callbacks as (a, b) => c, never with function.",
        "Never use x => x.id in selectors.",
        "End every statement with `;` in JavaScript.",
        "Always end lines with ; in C files.",
        "Use env vars, i.e. $FOO, for config.",
        "Set a timeout (e.g. 30s) on every HTTP call.",
        "Prefer arrow functions (x => x + 1) over function expressions.",
        "Map errors with map_err(|e| => e) everywhere.",
        "Use println! in the cli crate only.",
        "Use plain assert_eq! with expect-test for new tests.",
        "Never use println!(\"…\") in the server crate.",
    ] {
        let whole = text.trim_end_matches('.');
        assert_eq!(kept(text), [whole], "{text}");
    }
    assert_eq!(
        kept("Never use `git push --force`; use `--force-with-lease`."),
        ["Never use `git push --force`", "use `--force-with-lease`"]
    );
    assert_eq!(
        kept("Use semver (major.minor.patch); bump minor for features."),
        ["Use semver (major.minor.patch)", "bump minor for features"]
    );
    assert_eq!(kept("I prefer short answers (can you do that?)."), ["I prefer short answers"]);
    assert_eq!(quotes("Never use `git push --force`, ever."), ["Never use `git push --force`, ever"]);
    assert_eq!(
        quotes("From now on, answer in German: how is the weather?"),
        ["From now on, answer in German"],
        "what is asked behind a colon spells nothing out"
    );
}

#[test]
fn who_says_it_is_no_directive() {
    for text in [
        "User corrected me: we deploy with Kamal, not with Capistrano.",
        "User (12 Nov): we deploy with Kamal, not with Capistrano.",
        "The user told me on 12 Nov: we deploy with Kamal, not with Capistrano.",
    ] {
        assert_eq!(kept(text), ["we deploy with Kamal, not with Capistrano"], "{text}");
        assert_eq!(noted(text), kept(text), "{text}");
    }
    assert_eq!(kept("User preferences: dark mode, vim bindings."), ["dark mode, vim bindings"]);
    assert_eq!(kept("User: use Poetry."), ["use Poetry"]);
    assert_eq!(noted("User said: the build fails on Windows, not on Linux."), [""; 0], "that is a fact");
}

#[test]
fn what_another_likes_and_how_somebody_is_reached_is_no_directive() {
    for text in [
        "Tomas's birthday is 9 May, he likes Lego and anything with trains.",
        "full name Gareth Pendlebury, 07700 900417",
        "Plumber: full name Gareth Pendlebury, 07700 900417",
        "Anna's teacher is Mr. Weber; she loves horses.",
    ] {
        assert_eq!((kept(text), noted(text)), (vec![], vec![]), "{text}");
    }
    assert_eq!(kept("Call me on 07700 900417, never on the landline.").len(), 1);
    assert_eq!(kept("Mia hates cilantro, so leave it out."), ["leave it out"]);
}

#[test]
fn plain_orders_are_found() {
    for (text, condition) in [
        ("Don't tell Lena about the surprise party.", None),
        ("If Grandma calls, remind her to take the pills at 8.", Some("If Grandma calls")),
        ("When the bank writes, tell me straight away.", Some("When the bank writes")),
        ("Send birthday cards to the kids a week early.", None),
        ("For gifts to Oma: no more than 30 euros.", Some("For gifts to Oma")),
    ] {
        let found = found(said("preference", text));
        let stated: Vec<_> = found.iter().map(|it| (it.quote.as_str(), it.condition.as_deref())).collect();
        assert_eq!(stated.len(), 1, "{stated:?}");
        assert_eq!(stated[0].0, text.trim_end_matches('.'));
        assert!(condition.is_none() || stated[0].1.is_none() || stated[0].1 == condition, "{stated:?}");
    }
    assert_eq!(quotes("Don't tell Lena about the surprise party.").len(), 1);
    assert_eq!(quotes("If Grandma calls, remind her to take the pills at 8.").len(), 1);
    for text in [
        "User told me that he wants short PR descriptions.",
        "In this project we write docstrings in Google style.",
    ] {
        assert_eq!(noted(text), [text.trim_end_matches('.')], "{text}");
    }
    assert_eq!(noted("User told me that he wants to go home."), [""; 0]);
}

#[test]
fn a_quotation_that_goes_on_in_the_next_sentence_is_not_read() {
    let text = "The README has: \"Always call init() before anything else. Never share a client.\" Why?";
    assert_eq!(quotes(text), [""; 0]);
}

#[test]
fn a_label_says_of_what_it_is_and_a_line_that_had_room_ends_it() {
    assert_eq!(
        noted("Commit messages: imperative, no trailing dot."),
        ["Commit messages: imperative, no trailing dot"]
    );
    assert_eq!(noted("Reminder: never push to main."), ["never push to main"]);
    assert_eq!(
        noted("never use mocks in tests\nalways run ruff before committing\nThe admin lives at /backoffice"),
        ["never use mocks in tests", "always run ruff before committing"]
    );
    assert_eq!(noted("Never touch files in vendor/"), ["Never touch files in vendor/"]);
}

#[test]
fn what_is_quoted_of_the_user_is_the_users() {
    let text = "Correction from user: \"don't add TODO comments, file an issue instead.\"";
    assert_eq!(found(said("note", text)).len(), 1);
}

#[test]
fn a_fact_among_preferences_is_none() {
    let text =
        "Travel: window seat, trains over planes. She has a BahnCard 50. Never book non-refundable rooms.";
    let quotes: Vec<String> = found(said("preference", text)).into_iter().map(|it| it.quote).collect();
    assert!(!quotes.iter().any(|quote| quote.contains("BahnCard")), "{quotes:?}");
    assert!(quotes.iter().any(|quote| quote.contains("non-refundable")), "{quotes:?}");
    assert_eq!(found(said("preference", "metric units")).len(), 1);
}

#[test]
fn what_is_asked_for_once_is_none() {
    let text = "Here is my reducer. Could you have a look and suggest any improvements?";
    assert_eq!(found(said("user", text)), []);
}

#[test]
fn a_condition_ends_before_brackets_and_any_question_is_none() {
    let condition = |text| found(said("user", text)).remove(0).condition;
    assert_eq!(condition("please never use long bulleted lists when i ask something"), None);
    assert_eq!(
        condition("Please never use long bulleted lists when I ask about food").as_deref(),
        Some("when I ask about food")
    );
    let in_docs = condition("when writing docs always use British spelling (colour, normalise)");
    assert!(in_docs.is_none_or(|condition| !condition.contains('(')));
}

#[test]
fn a_semicolon_within_a_word_divides_nothing() {
    assert_eq!(quotes("Always add a TL;DR on top."), ["Always add a TL;DR on top"]);
}

#[test]
fn a_sentence_that_goes_on_with_and_has_the_condition_of_the_one_before() {
    let conditions = |text: &str| -> Vec<Option<String>> {
        found(said("user", text)).into_iter().map(|directive| directive.condition).collect()
    };
    let whole =
        conditions("When you draft a text to Mum, always write times in words. And never use abbreviations.");
    assert_eq!(whole.len(), 2);
    assert!(
        whole.iter().all(|condition| condition.as_deref().is_some_and(|it| it.contains("Mum"))),
        "{whole:?}"
    );
    assert_eq!(
        conditions("When you draft a text to Mum, always write times in words. Never use abbreviations.")[1],
        None
    );
    // What was added behind the first one is said of it alone.
    let agenda =
        "Always put the date on top when you draft an agenda. And never write to the members without asking.";
    assert_eq!(conditions(agenda)[1], None);
}

#[test]
fn what_a_statement_points_back_to_in_its_sentence_is_kept_with_it() {
    let sundays = "Also Sunday afternoons from 2 are family time, nothing gets planned there, and I'd like you to stick to it too";
    assert_eq!(noted(sundays), [sundays]);
}

/// Of a user's text of which the encoder is sure that each sentence states a directive.
fn surely(text: &str) -> Vec<FoundDirective> {
    let new = NewArtifact::new(said("user", text)).expect("it can be stored");
    let sure = SentenceLogits { states: [9.0; 3], ..NOTHING };
    let judged = vec![sure; sentences_to_judge(&new.content, &new.meta).len()];
    find_judged_directives(&new.content, &new.meta, &judged).directives
}

#[test]
fn a_reason_is_kept_with_what_follows_from_it() {
    let found = surely(
        "Also, since you keep giving me everything in inches for the cutting sheets, it's centimetres here, I was trained in Ghent.",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].quote.ends_with("cutting sheets, it's centimetres here"), "{found:?}");
}

#[test]
fn a_condition_ends_where_begins_what_holds_on_it() {
    for (text, condition) in [
        (
            "By the way when you do quotes for people, round pounds only, it just starts arguments.",
            "when you do quotes for people",
        ),
        (
            "Please don't start explaining his kidneys to me when I mention a result, just put down what they said.",
            "when I mention a result",
        ),
        (
            "Not a word of that to my dad, if you write anything they might see leave it out.",
            "if you write anything they might see",
        ),
        ("So whatever you come up with for our teas has to work for her from here on.", "for our teas"),
    ] {
        let found = surely(text);
        let conditions: Vec<&str> = found.iter().filter_map(|it| it.condition.as_deref()).collect();
        assert_eq!(conditions, [condition], "{found:?}");
    }
}
