//! What ends a promise: an event of the same owner about the same matter, in other words.
//!
//! Two events are about one matter when the words that carry meaning are mostly the same, rare ones among the owner's
//! promises counting more, or when they name the same ticket. An event ends the promise that it fits clearly better than
//! any other; promises that say the same end together.

#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use memory_language::lexicon::is_function_word;
use unicode_segmentation::UnicodeSegmentation;

use self::words::{
    VERBS, is_date, is_day_of_month, is_month, is_ticket, period_of_matter, root_of, says_nothing,
};
use crate::category::Category;
use crate::closed_set::closed_set;

/// From this likeness on two events are about one matter.
const ALIKE: f32 = 0.5;
/// The same, and how many words both must have, where the event does not say who did it.
const SURE: f32 = 0.6;
const SHARED_MIN: usize = 2;
/// How many words two matters share at least where each has a word of its own.
const SHARED_WHERE_CROSSED: usize = 3;
/// By so much the best must lead the next that says something else.
const MARGIN: f32 = 0.1;
/// Promises as alike as this say the same.
const RETOLD: f32 = 0.75;
/// What a ticket in common says, and what a shared subject and the same verb add.
const SAME_TICKET: f32 = 0.9;
const SAME_SUBJECT: f32 = 0.1;
const SAME_VERB: f32 = 0.05;
/// What "done" in answer to the only promise says.
const ANSWERED: f32 = 0.6;
/// The most promises that one event ends.
const ENDED_MAX: usize = 4;
/// What stands among the verbs of a text that says what is not to be.
const NOT: &str = "not";
/// Words that say so.
const NEGATIONS: [&str; 9] =
    ["not", "won't", "isn't", "aren't", "don't", "doesn't", "can't", "cannot", "longer"];

closed_set! {
    /// How an event ends a promise.
    Ending { Fulfils = "fulfils", Cancels = "cancels" }
}

closed_set! {
    /// What has become of a promise.
    CommitmentState {
        Open = "open",
        Done = "done",
        Cancelled = "cancelled",
        /// Open, and it was due before now.
        Overdue = "overdue",
    }
}

impl CommitmentState {
    pub fn of(ended: Option<Ending>, due: Option<Timestamp>, now: Timestamp) -> Self {
        match ended {
            Some(Ending::Fulfils) => Self::Done,
            Some(Ending::Cancels) => Self::Cancelled,
            None if due.is_some_and(|due| due < now) => Self::Overdue,
            None => Self::Open,
        }
    }
}

/// What an event is about, as far as its words show: by this two events are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitmentFingerprint {
    /// Stems that carry meaning.
    words: BTreeSet<String>,
    /// Stems of what is done with any matter: send, finish, review.
    verbs: BTreeSet<String>,
    numbers: BTreeSet<String>,
    tickets: BTreeSet<String>,
    /// Months, days of the week and seasons that tell it from another of its kind: "the October invoice".
    periods: BTreeSet<String>,
    subjects: BTreeSet<i64>,
}

impl CommitmentFingerprint {
    /// The names of who does it are left out: they do not identify the matter.
    pub fn of(narrative: &str, doers: &[String], subjects: &[i64]) -> Self {
        let mut matter = Self {
            words: BTreeSet::new(),
            verbs: BTreeSet::new(),
            numbers: BTreeSet::new(),
            tickets: BTreeSet::new(),
            periods: BTreeSet::new(),
            subjects: subjects.iter().copied().collect(),
        };
        let names: BTreeSet<String> =
            doers.iter().flat_map(|name| name.unicode_words()).map(str::to_lowercase).collect();
        if negates(narrative) {
            matter.verbs.insert(NOT.to_owned());
        }
        let runs: Vec<&str> = narrative.split_whitespace().collect();
        for (at, run) in runs.iter().enumerate() {
            let bare = run.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
            if is_ticket(bare) {
                matter.tickets.insert(bare.to_lowercase());
                continue;
            }
            if is_date(bare) || is_day_of_month(&runs, at) {
                continue;
            }
            matter.periods.extend(period_of_matter(&runs, at));
            let beside_month = [at.checked_sub(1), Some(at + 1)]
                .into_iter()
                .flatten()
                .filter_map(|near| runs.get(near))
                .any(|near| is_month(near));
            for word in bare.unicode_words() {
                matter.take(word, &names, beside_month);
            }
        }
        matter
    }

    fn take(&mut self, word: &str, names: &BTreeSet<String>, beside_month: bool) {
        let lower = word.to_lowercase().replace('’', "'");
        // "I'll", "Ben's", "don't".
        let lower = match lower.split_once('\'') {
            Some((word, "s" | "ll" | "ve" | "d" | "re" | "m")) => word,
            Some((_, "t")) => return,
            _ => &lower,
        };
        if names.contains(lower) || is_function_word(lower) || says_nothing(lower) {
            return;
        }
        if lower.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ':') {
            if !beside_month {
                self.numbers.insert(lower.to_owned());
            }
            return;
        }
        let stem = root_of(lower);
        if VERBS.contains(&stem.as_str()) {
            self.verbs.insert(stem);
        } else {
            self.words.insert(stem);
        }
    }

    /// As it is stored: each of its parts with a letter for what it is.
    pub fn tags(&self) -> Vec<String> {
        let texts = [
            ('w', &self.words),
            ('v', &self.verbs),
            ('n', &self.numbers),
            ('t', &self.tickets),
            ('p', &self.periods),
        ];
        let tags =
            texts.into_iter().flat_map(|(kind, parts)| parts.iter().map(move |part| format!("{kind}{part}")));
        tags.chain(self.subjects.iter().map(|subject| format!("s{subject}"))).collect()
    }

    /// As [`tags`](Self::tags) gave it; also from a narrative behind an exclamation mark.
    pub fn from_tags(tags: &[String]) -> Self {
        if let [tag] = tags
            && let Some(narrative) = tag.strip_prefix('!')
        {
            return Self::of(narrative, &[], &[]);
        }
        let of = |kind: char| tags.iter().filter_map(move |tag| tag.strip_prefix(kind));
        let texts = |kind: char| of(kind).map(str::to_owned).collect();
        Self {
            words: texts('w'),
            verbs: texts('v'),
            numbers: texts('n'),
            tickets: texts('t'),
            periods: texts('p'),
            subjects: of('s').filter_map(|subject| subject.parse().ok()).collect(),
        }
    }

    /// What was promised is that something ends: a cancellation fulfils it.
    pub fn is_to_cancel(&self) -> bool {
        ["cancel", "drop", "scrap", "abandon"].iter().any(|verb| self.verbs.contains(*verb))
    }

    /// It says what is not to be: it ends only what it names in full.
    fn is_negated(&self) -> bool {
        self.verbs.contains(NOT)
    }

    /// Whether it has all words of a promise, and one at least.
    fn names_all_of(&self, promise: &Self) -> bool {
        !promise.words.is_empty()
            && promise.words.is_subset(&self.words)
            && promise.verbs.is_subset(&self.verbs)
    }

    /// It says that something was done and not what.
    fn is_bare(&self) -> bool {
        self.words.is_empty() && self.tickets.is_empty() && self.subjects.is_empty()
    }
}

fn negates(narrative: &str) -> bool {
    let lower = narrative.to_lowercase().replace('’', "'");
    lower.unicode_words().any(|word| NEGATIONS.contains(&word))
}

/// How an event of this category and narrative ends a promise; `None` where it ends nothing.
pub fn ending(category: Category, narrative: &str) -> Option<Ending> {
    const CANCELLED: [&str; 9] = [
        "cancel",
        "canceled",
        "cancelled",
        "dropped",
        "scrapped",
        "abandoned",
        "withdrew",
        "withdrawn",
        "aborted",
    ];
    /// What was not done after all.
    const NEGATED: [&str; 9] =
        ["not", "never", "cannot", "didn't", "hasn't", "haven't", "isn't", "wasn't", "couldn't"];
    /// What is under way.
    const UNDONE: [&str; 15] = [
        "started",
        "starts",
        "began",
        "begun",
        "beginning",
        "continues",
        "continued",
        "progress",
        "almost",
        "nearly",
        "partly",
        "partially",
        "halfway",
        "working",
        "half",
    ];
    /// What is not done may be done later, or otherwise.
    const FOR_NOW: [&str; 8] = ["until", "before", "yet", "only", "just", "today", "unless", "instead"];
    let lower = narrative.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower.unicode_words().collect();
    let says = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let called_off = words.iter().any(|word| word.starts_with("call")) && words.contains(&"off");
    let no_longer = words.windows(2).any(|pair| pair == ["no", "longer"]);
    let is_called_off = says(&CANCELLED) || called_off;
    let cancels = is_called_off || no_longer;
    let decides = |word: &str| matches!(word, "decided" | "agreed" | "voted" | "resolved");
    let to_cancel = words.windows(3).any(|said| decides(said[0]) && said[1..] == ["to", "cancel"]);
    let leads = words.iter().find(|word| **word != "decision") == Some(&"cancel");
    let decided = to_cancel || leads || called_off || says(&["canceled", "cancelled"]);
    match category {
        Category::Execution | Category::Change if cancels => Some(Ending::Cancels),
        // "We cancelled the dinner" is a decision as well.
        Category::Decision if decided && !says(&NEGATED) => Some(Ending::Cancels),
        // "Freya isn't bringing the telescope", but not "… until Friday".
        Category::Decision | Category::Change if negates(narrative) && !is_called_off && !says(&FOR_NOW) => {
            Some(Ending::Cancels)
        }
        Category::Execution if !says(&UNDONE) && !says(&NEGATED) => Some(Ending::Fulfils),
        _ => None,
    }
}

/// How rare words are among an owner's promises.
#[derive(Debug, Clone, Default)]
pub struct Rarity {
    promises: f32,
    having: HashMap<String, f32>,
}

impl Rarity {
    pub fn of<'a>(promises: impl Iterator<Item = &'a CommitmentFingerprint>) -> Self {
        let mut rarity = Self::default();
        for matter in promises {
            rarity.promises += 1.0;
            for word in &matter.words {
                *rarity.having.entry(word.clone()).or_default() += 1.0;
            }
        }
        rarity
    }

    fn weight(&self, word: &str) -> f32 {
        let having = self.having.get(word).copied().unwrap_or(0.0).max(1.0);
        (1.0 + (self.promises + 1.0) / having).ln()
    }

    fn weight_of(&self, words: &BTreeSet<String>) -> f32 {
        words.iter().map(|word| self.weight(word)).sum()
    }
}

/// How much two events are about one matter, 0 to 1.
pub fn likeness(a: &CommitmentFingerprint, b: &CommitmentFingerprint, rarity: &Rarity) -> f32 {
    let differ = |x: &BTreeSet<String>, y: &BTreeSet<String>| {
        !x.is_empty() && !y.is_empty() && x.intersection(y).next().is_none()
    };
    if differ(&a.tickets, &b.tickets) || differ(&a.numbers, &b.numbers) || differ(&a.periods, &b.periods) {
        return 0.0;
    }
    if a.tickets.intersection(&b.tickets).next().is_some() {
        return SAME_TICKET;
    }
    let shared: f32 = a.words.intersection(&b.words).map(|word| rarity.weight(word)).sum();
    if shared <= 0.0 {
        return 0.0;
    }
    let mut score = 2.0 * shared / (rarity.weight_of(&a.words) + rarity.weight_of(&b.words));
    if a.subjects.intersection(&b.subjects).next().is_some() {
        score += SAME_SUBJECT;
    }
    if a.verbs.intersection(&b.verbs).next().is_some() {
        score += SAME_VERB;
    }
    score.min(1.0)
}

/// Whether two promises, by their narratives, are the same one told twice.
pub fn says_the_same(a: &str, b: &str) -> bool {
    let of = |narrative| CommitmentFingerprint::of(narrative, &[], &[]);
    likeness(&of(a), &of(b), &Rarity::default()) >= RETOLD
}

/// A promise that an event may end.
#[derive(Debug, Clone, Copy)]
pub struct Promise<'a> {
    pub matter: &'a CommitmentFingerprint,
    /// It was made in the same conversation or document, not long before.
    pub is_near: bool,
}

/// Which of the promises an event ends, by their indexes, with how sure that is.
pub fn ended(event: &CommitmentFingerprint, promises: &[Promise<'_>], rarity: &Rarity) -> Vec<(usize, f32)> {
    if event.is_bare() {
        return answered(event, promises);
    }
    let may_end = |promise: &Promise<'_>| {
        let matter = promise.matter;
        // "Paid the gas bill" has a word that "pay the electricity bill" has not, and the other way round.
        let crosses = !matter.words.is_subset(&event.words) && !event.words.is_subset(&matter.words);
        let shared = matter.words.intersection(&event.words).count();
        let is_of_ticket = matter.tickets.intersection(&event.tickets).next().is_some();
        (!crosses || shared >= SHARED_WHERE_CROSSED || is_of_ticket)
            && (!event.is_negated() || event.names_all_of(matter))
    };
    let mut ranked: Vec<(usize, f32)> = promises
        .iter()
        .enumerate()
        .filter(|(_, promise)| may_end(promise))
        .map(|(at, promise)| (at, likeness(event, promise.matter, rarity)))
        .filter(|(_, score)| *score >= ALIKE - MARGIN)
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let Some((best, score)) = ranked.first().copied().filter(|(_, score)| *score >= ALIKE) else {
        return Vec::new();
    };
    let says_the_same = |at: usize| likeness(promises[at].matter, promises[best].matter, rarity) >= RETOLD;
    let is_clear = ranked.iter().skip(1).all(|(at, next)| score - next >= MARGIN || says_the_same(*at));
    if !is_clear {
        return Vec::new();
    }
    ranked
        .into_iter()
        .filter(|(at, score)| *at == best || (*score >= ALIKE && says_the_same(*at)))
        .take(ENDED_MAX)
        .collect()
}

/// The same for promises of whom the event does not say that they did it: one must have all words of the other, and not only the
/// same ticket.
pub fn ended_by_anyone(
    event: &CommitmentFingerprint,
    promises: &[Promise<'_>],
    rarity: &Rarity,
) -> Vec<(usize, f32)> {
    if event.is_bare() {
        return Vec::new();
    }
    let is_clear = |matter: &CommitmentFingerprint| {
        let shared = event.words.intersection(&matter.words).count();
        let is_of_ticket = event.tickets.intersection(&matter.tickets).next().is_some();
        let does_the_same = event.verbs.intersection(&matter.verbs).next().is_some();
        let is_same = event.words == matter.words && shared > 0 && does_the_same;
        (is_of_ticket && (shared > 0 || does_the_same))
            || is_same
            || (event.is_negated() && shared > 0)
            || (shared >= SHARED_MIN && shared == event.words.len().min(matter.words.len()))
    };
    let mut ended = ended(event, promises, rarity);
    ended.retain(|(at, score)| *score >= SURE && is_clear(promises[*at].matter));
    ended
}

/// "Done" ends the only promise nearby, or the only one of the verb that it says.
fn answered(event: &CommitmentFingerprint, promises: &[Promise<'_>]) -> Vec<(usize, f32)> {
    let near: Vec<usize> = (0..promises.len()).filter(|at| promises[*at].is_near).collect();
    let same_verb = |at: &&usize| promises[**at].matter.verbs.intersection(&event.verbs).next().is_some();
    let of_verb: Vec<usize> = near.iter().filter(same_verb).copied().collect();
    match (near.as_slice(), of_verb.as_slice()) {
        ([only], _) | (_, [only]) => vec![(*only, ANSWERED)],
        _ => Vec::new(),
    }
}
