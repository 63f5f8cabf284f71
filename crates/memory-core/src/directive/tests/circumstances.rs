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
