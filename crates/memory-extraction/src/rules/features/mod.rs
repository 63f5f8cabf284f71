//! Features: what the words of a clause say of each category. The surest counts for the clause.

mod change;
mod commitment;
mod execution;
mod feedback;
mod risk;

use memory_core::event::Category;

use super::clause::{Clause, Lead, Subject};
use super::cues::{self, Who};
use super::lists;

#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) category: Category,
    pub(super) confidence: f32,
    /// The first token of the phrase.
    pub(super) at: usize,
    pub(super) lead: Lead,
}

/// The best hit of a clause.
pub(super) fn best(clause: &Clause<'_, '_>) -> Option<Hit> {
    best_where(clause, |_| true)
}

/// The surest hit of a category.
pub(super) fn best_of(clause: &Clause<'_, '_>, category: Category) -> Option<Hit> {
    best_where(clause, |hit| hit.category == category)
}

fn best_where(clause: &Clause<'_, '_>, counts: impl Fn(&Hit) -> bool) -> Option<Hit> {
    let mut best: Option<Hit> = None;
    for at in clause.tokens.clone() {
        let told = [
            commitment::detect(clause, at),
            execution::detect(clause, at),
            execution::detect_plan(clause, at),
            risk::detect(clause, at),
            feedback::detect(clause, at),
            change::detect(clause, at),
        ];
        for hit in told.into_iter().flatten().chain(cue_hits(clause, at)) {
            if counts(&hit) && best.as_ref().is_none_or(|best| hit.confidence > best.confidence + 0.001) {
                best = Some(hit);
            }
        }
    }
    best
}

fn cue_hits<'c>(clause: &'c Clause<'_, '_>, at: usize) -> impl Iterator<Item = Hit> + 'c {
    let text = &clause.parsed.text;
    // A word of a name is no cue.
    let named = clause.parsed.mention(at).is_some();
    cues::at(text, at, clause.tokens.end).filter(move |_| !named).filter_map(move |(cue, end)| {
        let lead = clause.lead(at);
        let confidence = cue
            .wanted
            .iter()
            .filter(|(who, _)| is_met(clause, *who, &lead, at, end))
            .map(|(_, confidence)| *confidence)
            .reduce(f32::max)?;
        let category = settled(clause, cue.category, &lead, at, end);
        let confidence = weighed(clause, category, confidence, &lead, at)?;
        Some(Hit { category, confidence, at, lead })
    })
}

/// "We agreed to …" settles something, "Alice agreed to …" promises it.
fn settled(clause: &Clause<'_, '_>, category: Category, lead: &Lead, at: usize, end: usize) -> Category {
    let named = matches!(lead.subject, Subject::People(_) | Subject::Me);
    if category == Category::Commitment
        && clause.word(at).starts_with("agree")
        && lists::CHOICE_VERBS.contains(clause.word(end))
    {
        return if named && !matches!(&lead.subject, Subject::People(people) if people.len() > 1) {
            category
        } else {
            Category::Decision
        };
    }
    category
}

fn is_met(clause: &Clause<'_, '_>, who: Who, lead: &Lead, at: usize, end: usize) -> bool {
    use Subject::{Group, Me, Nobody, People, Public, They, Thing, We};
    let plural = matches!(&lead.subject, People(people) if people.len() > 1);
    let doer = matches!(lead.subject, People(_) | Me | We | Group(_));
    match who {
        Who::Doer => doer && (!lead.be || clause.word(at).ends_with("ing")),
        Who::Person => matches!(lead.subject, People(_) | Me),
        Who::Me => lead.subject == Me && (!lead.be || clause.word(at).ends_with("ing")),
        Who::Collective => plural || matches!(lead.subject, We | Group(_) | They),
        Who::Voice => doer || matches!(lead.subject, Public | They),
        Who::Passive => lead.be && (lead.subject != Nobody || clause.opens) && lead.subject != They,
        Who::State => lead.be && matches!(lead.subject, Thing) && ends_phrase(clause, end) && end - at == 1,
        Who::Thing => lead.subject == Thing && !lead.be,
        Who::Nobody => {
            lead.subject == Nobody
                && clause.opens
                && lead.from <= clause.tokens.start + 1
                && !reads_as_adjective(clause, end)
        }
        Who::Company => doer && clause.company_after(end),
        Who::Free => true,
    }
}

fn ends_phrase(clause: &Clause<'_, '_>, at: usize) -> bool {
    at >= clause.tokens.end
        || matches!(
            clause.word(at),
            "." | ","
                | "!"
                | ")"
                | "and"
                | "on"
                | "as"
                | "in"
                | "with"
                | "since"
                | "now"
                | "for"
                | "by"
                | "today"
        )
}

/// "Completed forms must be returned": a verb follows, so the opening word was none.
fn reads_as_adjective(clause: &Clause<'_, '_>, end: usize) -> bool {
    (end..clause.tokens.end.min(end + 6)).any(|at| {
        matches!(
            clause.word(at),
            "must"
                | "should"
                | "will"
                | "can"
                | "may"
                | "is"
                | "are"
                | "was"
                | "were"
                | "has"
                | "have"
                | "need"
        )
    })
}

/// The confidence after doubt is taken into account; `None` when the phrase is not said as a fact.
fn weighed(
    clause: &Clause<'_, '_>,
    category: Category,
    confidence: f32,
    lead: &Lead,
    at: usize,
) -> Option<f32> {
    let risk = category == Category::QualityRisk;
    if clause.is_question() || clause.is_quoted(at) {
        return None;
    }
    if lead.negated || (risk && is_denied(clause, at)) {
        return None;
    }
    if risk {
        let doubt = if clause.is_supposed(at) { 0.12 } else { 0.0 };
        return Some(confidence - doubt);
    }
    if clause.is_supposed(at) || lead.modal {
        return None;
    }
    let done = matches!(
        category,
        Category::Execution
            | Category::Decision
            | Category::Change
            | Category::Collaboration
            | Category::Feedback
    );
    // What is still to come is not done; "we will be going with" was settled all the same.
    if done && lead.future && clause.word(at) != "going" {
        return None;
    }
    // "is released under a licence" is how something is, not what was done.
    if category == Category::Execution && lead.be && !lead.was && !ends_phrase(clause, at + 1) {
        return None;
    }
    let unknown = if matches!(lead.subject, Subject::They) { 0.12 } else { 0.0 };
    Some(confidence - unknown - if lead.hedged { 0.15 } else { 0.0 })
}

/// "no blockers", "reduces the risk", "resolved the outage", "risk management".
fn is_denied(clause: &Clause<'_, '_>, at: usize) -> bool {
    let floor = clause.tokens.start.max(at.saturating_sub(5));
    (floor..at).any(|back| lists::DENIALS.contains(clause.word(back)))
}
