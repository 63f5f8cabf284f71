//! Hits: the one thing a clause tells, by its best cue.

use memory_core::event::Category;

use super::clause::{Clause, Lead, Subject};
use super::cues::{self, Who};

#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) category: Category,
    pub(super) confidence: f32,
    /// The first token of the phrase.
    pub(super) at: usize,
    pub(super) lead: Lead,
}

/// Verbs that choose: «we will use …» is a decision more than a promise.
const CHOICE_VERBS: [&str; 20] = [
    "use",
    "go",
    "adopt",
    "keep",
    "stick",
    "standardize",
    "standardise",
    "switch",
    "drop",
    "proceed",
    "target",
    "choose",
    "retain",
    "move",
    "postpone",
    "migrate",
    "support",
    "rely",
    "prioritize",
    "freeze",
];
/// What one will do without promising anything.
const IDLE_VERBS: [&str; 52] = [
    "be",
    "have",
    "need",
    "see",
    "know",
    "think",
    "like",
    "love",
    "want",
    "depend",
    "become",
    "mean",
    "miss",
    "admit",
    "say",
    "bet",
    "feel",
    "remember",
    "forget",
    "enjoy",
    "believe",
    "agree",
    "wait",
    "understand",
    "hate",
    "tell",
    "stay",
    "cover",
    "discuss",
    "look",
    "explore",
    "learn",
    "show",
    "explain",
    "walk",
    "dive",
    "assume",
    "hear",
    "live",
    "die",
    "try",
    "wonder",
    "hope",
    "expect",
    "notice",
    "get",
    "find",
    "regret",
    "survive",
    "lose",
    "win",
    "guess",
];

/// The best hit of a clause.
pub(super) fn best(clause: &Clause<'_, '_>) -> Option<Hit> {
    let mut best: Option<Hit> = None;
    for at in clause.tokens.clone() {
        let found = promise(clause, at).into_iter().chain(cue_hits(clause, at));
        for hit in found {
            if best.as_ref().is_none_or(|best| hit.confidence > best.confidence + 0.001) {
                best = Some(hit);
            }
        }
    }
    best
}

fn cue_hits<'c>(clause: &'c Clause<'_, '_>, at: usize) -> impl Iterator<Item = Hit> + 'c {
    let text = &clause.scene.text;
    // A word of a name is no cue.
    let named = clause.scene.spot(at).is_some();
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

/// «We agreed to …» settles something, «Alice agreed to …» promises it.
fn settled(clause: &Clause<'_, '_>, category: Category, lead: &Lead, at: usize, end: usize) -> Category {
    let named = matches!(lead.subject, Subject::People(_) | Subject::Me);
    if category == Category::Commitment
        && clause.word(at).starts_with("agree")
        && CHOICE_VERBS.contains(&clause.word(end))
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

/// «Completed forms must be returned»: a verb follows, so the opening word was none.
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
    // What is still to come is not done; «we will be going with» was settled all the same.
    if done && lead.future && clause.word(at) != "going" {
        return None;
    }
    // «is released under a licence» is how something is, not what was done.
    if category == Category::Execution && lead.be && !lead.was && !ends_phrase(clause, at + 1) {
        return None;
    }
    let unknown = if matches!(lead.subject, Subject::They) { 0.12 } else { 0.0 };
    Some(confidence - unknown - if lead.hedged { 0.15 } else { 0.0 })
}

/// «no blockers», «reduces the risk», «resolved the outage», «risk management».
fn is_denied(clause: &Clause<'_, '_>, at: usize) -> bool {
    const AWAY: [&str; 30] = [
        "no",
        "not",
        "n't",
        "without",
        "never",
        "fixed",
        "resolved",
        "reduce",
        "reduces",
        "reduced",
        "mitigate",
        "mitigates",
        "mitigated",
        "avoid",
        "avoids",
        "avoided",
        "prevent",
        "prevents",
        "eliminate",
        "eliminates",
        "eliminated",
        "zero",
        "minimize",
        "lower",
        "lowers",
        "addressed",
        "closed",
        "patched",
        "any",
        "fixes",
    ];
    let floor = clause.tokens.start.max(at.saturating_sub(5));
    (floor..at).any(|back| AWAY.contains(&clause.word(back)))
}

/// «Alice will …», «I'll …», «Bob is going to …», «Dana to …»: a subject, a future and something to do.
fn promise(clause: &Clause<'_, '_>, at: usize) -> Option<Hit> {
    let (verb, base) = future_verb(clause, at)?;
    let lead = clause.lead(at);
    let word = clause.word(verb);
    if !clause.scene.text.is_word(verb)
        || clause.is_question()
        || clause.is_quoted(at)
        || clause.is_supposed(at)
    {
        return None;
    }
    let denied = (at..verb).any(|near| matches!(clause.word(near), "not" | "n't" | "never"));
    let choice = CHOICE_VERBS.contains(&word);
    if matches!(lead.subject, Subject::We | Subject::Group(_))
        && choice
        && (word != "go" || matches!(clause.word(verb + 1), "with" | "ahead" | "for"))
    {
        return Some(Hit {
            category: Category::Decision,
            confidence: if denied { 0.66 } else { 0.7 },
            at,
            lead,
        });
    }
    let being = word == "be" && clause.word(verb + 1).ends_with("ing");
    if denied || lead.negated || (!being && is_idle(clause, verb)) {
        return None;
    }
    let confidence = match lead.subject {
        Subject::People(_) => base,
        Subject::Me => base - 0.06,
        Subject::Group(Some(_)) => 0.64,
        Subject::Group(None) => 0.58,
        Subject::We => 0.56,
        _ => return None,
    };
    let doubt =
        (at..verb).any(|near| matches!(clause.word(near), "probably" | "possibly" | "hopefully" | "likely"));
    // «we chose Anna, who will join in April» tells of the choice.
    let aside = at > clause.tokens.start && clause.word(at - 1) == "who";
    let confidence = if aside { confidence - 0.2 } else { confidence };
    let confidence = confidence - if doubt || lead.hedged || lead.modal { 0.2 } else { 0.0 };
    Some(Hit { category: Category::Commitment, confidence, at, lead })
}

/// The verb that a future at token `at` leads to, and how sure a promise it makes.
fn future_verb(clause: &Clause<'_, '_>, at: usize) -> Option<(usize, f32)> {
    let (after, base) = match clause.word(at) {
        "will" | "'ll" | "shall" => (at + 1, 0.8),
        "going" if clause.word(at + 1) == "to" => (at + 2, 0.74),
        // «Dana to send the notes», only where a clause begins with the name.
        "to" => {
            let person = at.checked_sub(1).and_then(|before| clause.scene.person(before))?;
            let first = clause
                .tokens
                .clone()
                .find(|at| clause.scene.text.kind(*at) != Some(super::words::Kind::Punctuation))?;
            let opens = person.tokens.start == first && !clause.scene.text.is_capitalised(at + 1);
            (at + 1, if opens { 0.78 } else { return None })
        }
        _ => return None,
    };
    let verb = (after..clause.tokens.end.min(after + 4)).find(|near| !is_adverb(clause, *near))?;
    Some((verb, base))
}

/// A word between «will» and its verb.
fn is_adverb(clause: &Clause<'_, '_>, at: usize) -> bool {
    let word = clause.word(at);
    match word {
        "also" | "then" | "now" | "both" | "likely" | "just" | "first" | "not" | "n't" | "never" => true,
        // «will be reviewing»: the verb is «be» with what follows.
        "be" | "reply" | "apply" | "supply" => false,
        _ => word.len() > 4 && word.ends_with("ly"),
    }
}

fn is_idle(clause: &Clause<'_, '_>, verb: usize) -> bool {
    let word = clause.word(verb);
    let next = clause.word(verb + 1);
    match word {
        "get" => !matches!(next, "the" | "a" | "an" | "it" | "this" | "that" | "back" | "in"),
        "look" => next != "into",
        "find" => next != "out",
        "walk" | "show" | "explain" | "cover" => {
            clause.scene.people_in(&(verb..clause.tokens.end)).is_empty()
        }
        "let" => clause.word(verb + 2) == "know",
        "keep" => clause.word(verb + 2) == "posted" || clause.word(verb + 2) == "mind",
        _ => IDLE_VERBS.contains(&word),
    }
}
