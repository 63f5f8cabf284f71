//! What a clause is not, however likely it looks: refused, denied, asked, only possible, or a fact that stands by itself.

use std::ops::Range;

use memory_core::event::Category;
use memory_language::time::Lean;

use super::super::parsed_segment::ParsedSegment;
use super::super::verbs;
use super::clauses::Candidate;
use super::happenings::is_happening;
use super::told_as_done::{is_told_as_done, stands_done};
use super::untaken::is_untaken;

/// Who speaks is named in no more than so many tokens at the head of a line.
const LABEL_TOKENS: usize = 5;

/// Whether a clause tells no event of a category; `is_lone` says that the text is this sentence and nothing else.
pub(super) fn rules_out(
    parsed: &ParsedSegment<'_>,
    candidate: &Candidate,
    category: Category,
    is_lone: bool,
) -> bool {
    if is_advice(parsed, candidate, category) {
        return true;
    }
    match category {
        Category::Commitment => {
            refuses(parsed, candidate)
                || is_conditional(parsed, candidate)
                || is_no_plan(parsed, candidate)
                || is_told_as_done(parsed, candidate)
                || stands_done(parsed, candidate)
                || {
                    let head = head(parsed, &candidate.tokens);
                    is_untaken(parsed, candidate, head) || is_happening(parsed, candidate, head)
                }
                || (is_lone && is_standing_fact(parsed, candidate))
        }
        Category::Execution => denies(parsed, candidate) || asks(parsed, candidate),
        Category::Decision => asks(parsed, candidate) || leaves_open(parsed, candidate),
        Category::Stakeholder => is_conditional(parsed, candidate),
        _ => false,
    }
}

/// What an assistant or a program says without speaking of itself: its plans, lists and examples are proposals for whoever reads them.
/// "Fixed the test." is its own work.
fn is_advice(parsed: &ParsedSegment<'_>, candidate: &Candidate, category: Category) -> bool {
    if !parsed.is_said_by_machine(candidate.block(parsed)) {
        return false;
    }
    let text = &parsed.text;
    let sentence = &candidate.sentence;
    let speaks_of_itself = (sentence.start..candidate.tokens.end).any(|at| text.is_any(at, &["i", "we"]));
    let is_past = |at: usize| verbs::of(text.word(at)).is_some_and(|verb| verb.past && !verb.base);
    let is_own_work = category == Category::Execution && is_past(head(parsed, sentence));
    !speaks_of_itself && !is_own_work
}

/// Whether a text is one sentence and nothing else.
pub(super) fn is_lone(candidates: &[(&ParsedSegment<'_>, Vec<Candidate>)]) -> bool {
    let [(_, candidates)] = candidates else { return false };
    let Some(first) = candidates.first() else { return false };
    candidates.iter().all(|candidate| candidate.sentence == first.sentence)
}

/// "I won't be able to", "unable to": whatever else the words look like, it is no promise.
fn refuses(parsed: &ParsedSegment<'_>, candidate: &Candidate) -> bool {
    let text = &parsed.text;
    let start = candidate.tokens.start;
    candidate.tokens.clone().any(|at| match text.word(at) {
        "unable" => true,
        "able" => {
            (start.max(at.saturating_sub(4))..at).any(|near| text.is_any(near, &["not", "n't", "never"]))
        }
        _ => false,
    })
}

/// "If the test finds a problem, Dana will call Paul": what only happens if something else does.
fn is_conditional(parsed: &ParsedSegment<'_>, candidate: &Candidate) -> bool {
    let head = head(parsed, &candidate.sentence);
    parsed.text.is_any(head, &["if", "unless"])
        || (parsed.text.word(head) == "in" && parsed.text.word(head + 1) == "case")
}

/// "Priya may approve it", "Aaron was going to fix it", "she will always order the fish": a possibility, a plan of the past, a habit.
fn is_no_plan(parsed: &ParsedSegment<'_>, candidate: &Candidate) -> bool {
    let text = &parsed.text;
    let Range { start, end } = candidate.tokens;
    for at in start..end {
        let next = text.word(at + 1);
        match text.word(at) {
            // What follows these is another clause of its own, and "will" decides before a later "may".
            "will" | "'ll" => return matches!(next, "always" | "usually" | "often" | "sometimes"),
            "shall" | "to" | "whether" | "if" | "that" | "what" | "who" | "which" | "as" | "so" => {
                return false;
            }
            // "in May": written small, a month has no verb after it.
            "may" | "might" => {
                return !text.is_any(at.saturating_sub(1), &["in", "by", "of", "this", "until", "before"])
                    && verbs::of(next).is_some_and(|verb| verb.base);
            }
            "was" | "were" => {
                return matches!(next, "going" | "meant" | "supposed") && text.word(at + 2) == "to";
            }
            _ => {}
        }
    }
    false
}

/// "Marta drives a 2015 Volvo.", "Emil takes the number 11 tram to school": how things are, told of somebody, with no day.
fn is_standing_fact(parsed: &ParsedSegment<'_>, candidate: &Candidate) -> bool {
    let text = &parsed.text;
    let sentence = &candidate.sentence;
    let start = head(parsed, sentence);
    if candidate.block(parsed).speaker.is_some() || start != sentence.start {
        return false;
    }
    let behind = match parsed.mention(start) {
        Some(mention) if mention.is_person() => mention.tokens.end,
        _ if text.is_any(start, &["he", "she"]) => start + 1,
        _ => return false,
    };
    let verb = text.word(behind);
    let is_third = verbs::of(verb).is_some_and(|verb| verb.third && !verb.past);
    let bytes = text.bytes(sentence);
    is_third
        && !text.is_any(behind, &["is", "has", "does"])
        && !text.is_any(behind + 1, &["to", "on", "over", "care", "that"])
        && parsed.dates_at(bytes.start).readings(&text.raw[bytes], Lean::Future).is_empty()
}

/// "No connection pooling configured", "nothing was merged": what was not done.
fn denies(parsed: &ParsedSegment<'_>, candidate: &Candidate) -> bool {
    parsed.text.is_any(candidate.tokens.start, &["no", "none", "nothing", "nobody", "neither", "never"])
}

/// "Did the deploy go through?", "Ann: Has Bob shipped it?": whether it was done is what is asked.
fn asks(parsed: &ParsedSegment<'_>, candidate: &Candidate) -> bool {
    let text = &parsed.text;
    let stop = candidate.tokens.end.max(candidate.sentence.end);
    let mark = (candidate.tokens.start..=stop).find(|at| text.is_any(*at, &[".", "!", "?", ";"]));
    mark.is_some_and(|mark| text.word(mark) == "?")
        && text.is_any(
            head(parsed, &candidate.tokens),
            &["did", "has", "have", "had", "was", "were", "is", "are", "do", "does"],
        )
}

/// "Not settled: where the stove goes", "Undecided – the colour".
fn leaves_open(parsed: &ParsedSegment<'_>, candidate: &Candidate) -> bool {
    let text = &parsed.text;
    let at = candidate.sentence.start;
    let is_undecided = |at: usize| {
        let is_denied = text.word(at) == "not" && text.is_any(at + 1, &["settled", "decided", "agreed"]);
        if is_denied { Some(at + 2) } else { text.is_any(at, &["undecided", "unsettled"]).then_some(at + 1) }
    };
    let behind = is_undecided(at + usize::from(text.is_any(at, &["still", "yet"])));
    behind.is_some_and(|at| text.is_any(at, &[":", "-", "–", "—"]) || text.word(at) == "yet")
}

/// Where what is said begins, behind the name of who speaks.
fn head(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> usize {
    let label = tokens.clone().take(LABEL_TOKENS).find(|at| parsed.text.word(*at) == ":");
    label.map_or(tokens.start, |colon| colon + 1)
}

#[cfg(test)]
mod tests {
    use memory_core::artifact::Context;
    use memory_core::ports::{Segment, SourceText};

    use super::super::super::found;
    use super::super::clauses::candidates;
    use super::*;

    /// Whether the last clause of a note is no commitment.
    async fn is_ruled_out(text: &str) -> bool {
        is_ruled_out_as(None, text, Category::Commitment).await
    }

    async fn is_ruled_out_as(speaker: Option<&str>, text: &str, category: Category) -> bool {
        let segment = Segment {
            text: text.to_owned(),
            speaker: speaker.map(str::to_owned),
            date: "2026-03-02T09:00:00Z".parse().ok(),
            context_only: false,
            is_date_of_storing: false,
        };
        let source = SourceText {
            context: Context::Note,
            title: None,
            author: None,
            participants: Vec::new(),
            segments: vec![segment],
        };
        let found = found(&source, None).await.unwrap();
        let parsed = &found.parsed_segments[0];
        let read = [(parsed, candidates(parsed))];
        rules_out(parsed, read[0].1.last().unwrap(), category, is_lone(&read))
    }

    async fn assert_ruled_out(expected: bool, texts: &[&str]) {
        for text in texts {
            assert_eq!(is_ruled_out(text).await, expected, "{text}");
        }
    }

    #[tokio::test]
    async fn what_is_conditional_possible_or_a_habit_is_no_commitment() {
        assert_ruled_out(
            true,
            &[
                "If the pen test finds a critical issue, Dana will call Paul.",
                "Unless it rains, Henrik drives Ilse to the market.",
                "Dana: in case of a fire Paul will call the owner.",
                "Priya may approve the budget on Friday.",
                "Aaron was going to fix the gate last weekend.",
                "Kasper will always order the schnitzel.",
            ],
        )
        .await;
        assert_ruled_out(
            false,
            &[
                "Dana will call Paul on Monday.",
                "Dana will ask whether we may publish it.",
                "Leyla will try two of them in May.",
                "DOT to return in may with a count.",
            ],
        )
        .await;
    }

    #[tokio::test]
    async fn what_is_not_wanted_any_more_is_no_commitment_and_what_is_open_no_decision() {
        assert_ruled_out(true, &["Scrap the weekly summary.", "And stop the sunday summaries please."]).await;
        assert_ruled_out(false, &["Stop by the bakery on Friday."]).await;
        for (text, is_open) in [
            ("Not settled: where the stove goes.", true),
            ("Still undecided: the colour.", true),
            ("Settled: the stove goes under the window.", false),
        ] {
            assert_eq!(is_ruled_out_as(None, text, Category::Decision).await, is_open, "{text}");
        }
    }

    #[tokio::test]
    async fn what_an_assistant_advises_is_no_event() {
        let told = [
            (Category::Commitment, "- **21 August**: Gwen signs.", "I'll remind you on Wednesday."),
            (
                Category::Execution,
                "Nightly dumps to a storage box, restore tested monthly.",
                "I've put it in.",
            ),
            (Category::Execution, "The test is fixed by a retry.", "Fixed the test."),
            (Category::Change, "Taper from 3 October instead of the 10th.", "We moved it to the 3rd."),
        ];
        for (category, advised, own) in told {
            assert!(is_ruled_out_as(Some("assistant"), advised, category).await, "{advised}");
            assert!(!is_ruled_out_as(Some("assistant"), own, category).await, "{own}");
            assert!(!is_ruled_out_as(Some("Gwen"), advised, category).await, "{advised}");
        }
    }

    #[tokio::test]
    async fn a_deed_of_the_past_is_no_commitment() {
        assert_ruled_out(
            true,
            &[
                "We chose Rust. Anna announced it to the board on Tuesday.",
                "We picked the hotel. Jonas confirmed it with the bank on Thursday.",
                "Minutes of the sockets group. Sockets are done (30 Oct).",
                "We met at nine. The invoice is finally paid.",
            ],
        )
        .await;
        assert_ruled_out(
            false,
            &[
                "Anna agreed to announce it on Tuesday.",
                "Anna offered a lift for Tuesday.",
                "Anna confirmed that she will announce it.",
                "Anna took on the report.",
                "Anna sees that the sockets are done by Friday.",
                "Anna checks that the invoice is paid this week.",
                "The sockets are not done, Anna will see to it.",
            ],
        )
        .await;
    }

    #[tokio::test]
    async fn a_lone_fact_about_somebody_is_no_commitment() {
        assert_ruled_out(
            true,
            &["Marta drives a 2015 Volvo V60.", "Emil takes the number 11 tram to school."],
        )
        .await;
        assert_ruled_out(
            false,
            &[
                "Hana hands in her first chapter on the 21st.",
                "Nobuko takes over the kiln bookings.",
                "Marta agrees to drive the van.",
                "The hall is ours. Marta drives the van.",
                "Marta: drives the van.",
            ],
        )
        .await;
    }

    #[tokio::test]
    async fn what_is_only_asked_wanted_or_waited_for_is_no_commitment() {
        assert_ruled_out(
            true,
            &[
                "Hi Tom, could you send me the key for the shed by Friday?",
                "Would you mind looking at the invoice before Thursday?",
                "Please return the signed form to Mrs Bell by Monday.",
                "Robert, please send the figures to Anneke.",
                "I need the keys back by Sunday please.",
                "We still need the floor plans by Thursday.",
                "Emil is waiting for Jana to send the logs.",
                "Waiting for Jana to send the logs.",
                "ok I'll try but I can't promise",
            ],
        )
        .await;
        assert_ruled_out(
            false,
            &[
                "Tom to send the key.",
                "ACTION: Tom to send the key",
                "Actions:\n- Tom, please send the key",
                "I need to return the keys by Sunday.",
                "We need the team to send the plans.",
                "I'll send it if you could remind me.",
                "Jana is waiting for legal and will send the logs then.",
                "I promise to send it.",
            ],
        )
        .await;
    }

    #[tokio::test]
    async fn what_comes_by_itself_is_no_commitment() {
        assert_ruled_out(
            true,
            &[
                "Rain will reach the coast by Thursday.",
                "The shop will close at noon tomorrow.",
                "The sun will set at four tomorrow.",
                "The milk will go off by Friday.",
                "The tulips are going to come up in April.",
                "Anna will be forty on Saturday.",
                "Our grandson will turn 5 next week.",
                "Prices will go up in January, they say.",
                "UAT begins 1 December",
                "School starts again on 5 January.",
            ],
        )
        .await;
        assert_ruled_out(
            false,
            &[
                "The caretaker will close the hall at six.",
                "The plumber will start on Monday.",
                "The board will open the bids on Friday.",
                "Anna will start on Monday.",
                "Ralf will open the gate at six.",
                "Ralf will set the price by Friday.",
                "We will begin on Monday.",
                "The report will be finished by Friday.",
                "Ralf will be sending two of them on Friday.",
            ],
        )
        .await;
    }
}
