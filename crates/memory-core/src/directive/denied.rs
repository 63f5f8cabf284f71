//! Prohibitions that something stands in: "please do not, under any circumstances, share my address". A part behind the negation would
//! say the opposite.

use super::clauses::{self, Statement, Tokens};
use super::sentence::Sentence;
use super::words::list;

/// The most tokens of what stands between a negation and its verb, and of what stands before the negation in its clause.
const ASIDE_MAX: usize = 16;
const LEAD_MAX: usize = 6;
/// The most tokens of a heading.
const HEAD_MAX: usize = 10;

/// A negation with something between it and its verb.
struct Parted {
    /// Where its clause begins: "please", "you must".
    head: usize,
    aside: Tokens,
    /// Where the verb is.
    resumes: usize,
}

/// Makes one statement, from the negation on, of those that begin behind one: "don't phone | and text me", "never, not even in tests,
/// | use the production key".
pub(super) fn whole(sentence: &Sentence<'_>, found: Vec<Statement>) -> Vec<Statement> {
    let mut found = found;
    for parted in (0..sentence.len()).filter_map(|at| parted(sentence, at)) {
        let end = clauses::end_of(sentence, parted.resumes);
        let is_cut = |stated: &Statement| {
            stated.tokens.1 > parted.head && stated.tokens.0 < end.max(parted.resumes + 1)
        };
        if parted.resumes >= sentence.len() || !found.iter().any(is_cut) {
            continue;
        }
        let (cut, others): (Vec<Statement>, Vec<Statement>) = found.into_iter().partition(is_cut);
        let start = cut.iter().map(|stated| stated.tokens.0).min().unwrap_or(parted.head).min(parted.head);
        let end = cut.iter().map(|stated| stated.tokens.1).max().unwrap_or(end).max(end);
        let is_condition = list("condition").at(sentence, parted.aside.0, parted.aside.1) > 0;
        let condition = is_condition.then_some(parted.aside).or_else(|| {
            cut.iter()
                .filter_map(|stated| stated.condition)
                .find(|(at, _)| *at < parted.head || *at > parted.resumes)
        });
        found = others;
        found.push(Statement::new((start, end), condition));
    }
    for stated in &mut found {
        stated.tokens.0 = denied_from(sentence, stated.tokens.0);
        stated.tokens.0 = denied_head(sentence, stated.tokens.0);
    }
    without_overlaps(found)
}

/// Of statements that overlap the one that begins first.
fn without_overlaps(mut found: Vec<Statement>) -> Vec<Statement> {
    found.sort_by_key(|stated| stated.tokens);
    let mut kept: Vec<Statement> = Vec::new();
    for stated in found {
        match kept.last_mut().filter(|before| before.overlaps(&stated)) {
            Some(before) => before.tokens.1 = before.tokens.1.max(stated.tokens.1),
            None => kept.push(stated),
        }
    }
    kept
}

/// Where the verb is that a negation denies, behind what stands between.
pub(super) fn verb_behind(sentence: &Sentence<'_>, negation: usize) -> usize {
    let next = negation + 1 + usize::from(sentence.word(negation + 1) == Some("ever"));
    parted(sentence, negation).map_or(next, |parted| parted.resumes)
}

/// Whether a token denies the verb behind it: "never", "don't", the "not" of "you must not".
fn denies(sentence: &Sentence<'_>, at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|at| sentence.word(at));
    match sentence.word(at) {
        Some(
            "never" | "don't" | "dont" | "mustn't" | "shouldn't" | "can't" | "cannot" | "won't" | "didn't"
            | "wouldn't" | "doesn't",
        ) => true,
        Some("not") => {
            matches!(
                before(1),
                Some("do" | "does" | "must" | "should" | "may" | "can" | "shall" | "will" | "please")
            ) || (before(1) == Some("are") && before(2) == Some("you"))
        }
        _ => false,
    }
}

/// Where the clause of a negation begins.
fn head_of(sentence: &Sentence<'_>, negation: usize) -> usize {
    let is_of_it = |at: &usize| {
        sentence
            .word(*at)
            .is_some_and(|word| !matches!(word, "and" | "but" | "so" | "because" | "since" | "that" | "then"))
    };
    let lead = (0..negation).rev().take_while(is_of_it).take(LEAD_MAX).count();
    negation - lead
}

fn parted(sentence: &Sentence<'_>, at: usize) -> Option<Parted> {
    if !denies(sentence, at) {
        return None;
    }
    let open = at
        + 1
        + usize::from(
            matches!(sentence.word(at + 1), Some("again" | "ever")) && sentence.mark(at + 2).is_some(),
        );
    let from = if sentence.mark(open).is_some() { open + 1 } else { open };
    let near = from..sentence.len().min(from + ASIDE_MAX);
    let closes = |closers: &[&str]| {
        near.clone().find(|at| sentence.mark(*at).is_some_and(|mark| closers.contains(&mark)))
    };
    let closed = match (sentence.mark(open), sentence.word(open)) {
        (Some(","), _) => closes(&[","]),
        (Some("—" | "–" | "-"), _) => closes(&["—", "–", "-"]),
        (Some("("), _) => closes(&[")"]),
        (Some(":" | "…"), _) => None,
        (
            _,
            Some(
                "under" | "in" | "at" | "on" | "for" | "even" | "ever" | "unless" | "if" | "when"
                | "whenever" | "while" | "as" | "by",
            ),
        ) => Some(closes(&[","])?),
        _ => return None,
    };
    let resumes = closed.map_or(from, |closed| closed + 1);
    let resumes = resumes + usize::from(sentence.word(resumes) == Some("ever"));
    Some(Parted { head: head_of(sentence, at), aside: (from, closed.unwrap_or(from)), resumes })
}

/// Where a statement behind a colon begins, with the head that denies it: "things I never want: | emojis, small talk".
fn denied_head(sentence: &Sentence<'_>, start: usize) -> usize {
    let is_behind = (1..=HEAD_MAX).contains(&start) && sentence.mark(start - 1) == Some(":");
    if is_behind && denies_items(sentence, start - 1) { 0 } else { start }
}

/// Whether a heading says of what follows that it is not wanted: "never:", "dislikes:", "things not to do:". A part of that would
/// say the opposite.
pub(super) fn denies_items(sentence: &Sentence<'_>, end: usize) -> bool {
    let is_denial = |at: usize| match sentence.word(at) {
        Some("never" | "avoid" | "dislikes" | "dislike" | "hates" | "hate" | "don'ts" | "no-gos") => true,
        Some("don't" | "dont") => sentence.word(at + 1) != Some("forget"),
        Some("not") => sentence.word(at + 1) == Some("to") || denies(sentence, at),
        Some("no") => at == 0,
        _ => false,
    };
    end <= HEAD_MAX && list("condition").at(sentence, 0, end) == 0 && (0..end).any(is_denial)
}

/// Where a statement behind "and" or "or" begins, with the negation that it goes on with: "don't phone and | text me".
fn denied_from(sentence: &Sentence<'_>, start: usize) -> usize {
    let says_itself = sentence.word(start).is_none_or(|word| {
        matches!(
            word,
            "i" | "i'd"
                | "i'm"
                | "we"
                | "my"
                | "user"
                | "always"
                | "never"
                | "please"
                | "don't"
                | "dont"
                | "do"
                | "not"
                | "no"
                | "avoid"
                | "only"
                | "the"
                | "use"
        )
    }) || list("standing").at(sentence, start, sentence.len()) > 0
        || list("condition").at(sentence, start, sentence.len()) > 0;
    let Some(and) = start.checked_sub(1).filter(|at| matches!(sentence.word(*at), Some("and" | "or"))) else {
        return start;
    };
    if says_itself {
        return start;
    }
    let stays = |at: &usize| {
        sentence.word(*at).is_some_and(|word| !matches!(word, "but" | "so" | "please" | "always"))
    };
    let negation = (0..and).rev().take_while(stays).find(|at| denies(sentence, *at));
    negation.map_or(start, |negation| head_of(sentence, negation))
}
