//! Sentences that state no directive and that requests may depend on.

use super::*;

/// What is kept of a user's text, of whose sentences the encoder says how surely they bind.
fn judged(text: &str, binds: &[f32]) -> Judged {
    let new = NewArtifact::new(said("user", text)).expect("it can be stored");
    assert_eq!(sentences_to_judge(&new.content, &new.meta).len(), binds.len());
    let judged: Vec<SentenceLogits> =
        binds.iter().map(|binds| SentenceLogits { binds: *binds, ..NOTHING }).collect();
    find_judged_directives(&new.content, &new.meta, &judged)
}

fn circumstances(text: &str, binds: &[f32]) -> Vec<String> {
    judged(text, binds).circumstances.into_iter().map(|found| found.quote).collect()
}

#[test]
fn what_requests_may_depend_on_is_kept_beside_directives() {
    let text = "Heat above 35 and I faint, twice so far. The bus was late again.";
    let found = judged(text, &[2.0, -4.0]);
    assert_eq!((found.directives.len(), found.circumstances.len()), (0, 1));
    let kept = &found.circumstances[0];
    assert_eq!(kept.quote, "Heat above 35 and I faint, twice so far");
    assert!(kept.is_circumstance && !kept.is_general && !kept.is_permission && !kept.by_somebody);
}

#[test]
fn what_is_asked_or_said_by_others_is_no_circumstance() {
    assert_eq!(circumstances("Can one faint above 35 degrees?", &[4.0]), [""; 0]);
    assert_eq!(circumstances("> Heat above 35 and I faint.\nShe wrote that.", &[-4.0]), [""; 0]);
    assert_eq!(circumstances("Reply to Paula: we have no oven, just two gas burners.", &[4.0]), [""; 0]);
    let told = "One more for the assistant: we have no oven, just two gas burners.";
    assert_eq!(circumstances(told, &[4.0]), [told.trim_end_matches('.')]);
}

#[test]
fn of_minutes_and_mails_with_an_author_circumstances_are_kept() {
    let text = "Always lock the shed, Dana said. Heat above 35 and I faint.";
    let of = |context: &str, author: Option<&str>| {
        let draft = Draft { author: author.map(str::to_owned), ..said(context, text) };
        let new = NewArtifact::new(draft).expect("it can be stored");
        let logits = SentenceLogits { states: [9.0; 3], binds: 2.0, ..NOTHING };
        let judged = vec![logits; sentences_to_judge(&new.content, &new.meta).len()];
        let Judged { directives, circumstances, .. } =
            find_judged_directives(&new.content, &new.meta, &judged);
        assert!(circumstances.iter().all(|found| found.by_somebody), "it is seen later whose they are");
        (directives.len(), circumstances.len())
    };
    for context in ["meeting", "email"] {
        assert_eq!(of(context, Some("Marion")), (0, 2), "what is wanted there is wanted of others");
        assert_eq!(of(context, None), (0, 0));
    }
    assert_eq!(of("document", Some("Marion")), (0, 0));
}

#[test]
fn a_circumstance_is_shown_where_it_bears_on_a_request() {
    let with = |bearing| Candidate {
        quote: "Heat above 35 and I faint",
        condition: None,
        is_general: false,
        is_permission: false,
        is_circumstance: true,
        similarity: Some(0.9),
        bearing: Some(bearing),
        of_passage: None,
    };
    let shown = |question: &str, bearing| {
        let chosen = choose(question, &[with(bearing)]);
        chosen.into_iter().map(|chosen| chosen.is_answer).collect::<Vec<_>>()
    };
    let request = "Plan a hike for Sunday.";
    assert_eq!(shown(request, CIRCUMSTANCE_BEARS + 0.01), [false]);
    assert_eq!(shown(request, CIRCUMSTANCE_BEARS - 0.01), [false; 0]);
    assert_eq!(shown(request, 0.5), [true], "as good as an answer");
    assert_eq!(shown("When did I faint?", 0.9), [false; 0], "that asks for a fact");
}
