//! What ends a promise: an event of the same owner about the same matter, in other words.
//!
//! Two events are about one matter when the words that carry meaning are mostly the same, rare ones among the owner's
//! promises counting more, or when they name the same ticket. An event ends the promise that it fits clearly better than
//! any other; promises that say the same end together.

mod words;

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use memory_language::lexicon::is_function_word;
use unicode_segmentation::UnicodeSegmentation;

use self::words::{VERBS, is_date, is_month, is_ticket, root_of, says_nothing};
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
            if is_date(bare) {
                continue;
            }
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
        let texts = [('w', &self.words), ('v', &self.verbs), ('n', &self.numbers), ('t', &self.tickets)];
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
    if differ(&a.tickets, &b.tickets) || differ(&a.numbers, &b.numbers) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn matter(narrative: &str) -> CommitmentFingerprint {
        CommitmentFingerprint::of(narrative, &["Alice Chen".to_owned()], &[])
    }

    fn ends(event: &str, promises: &[&str]) -> Vec<usize> {
        let matters: Vec<CommitmentFingerprint> = promises.iter().map(|promise| matter(promise)).collect();
        let rarity = Rarity::of(matters.iter());
        let promises: Vec<Promise<'_>> =
            matters.iter().map(|matter| Promise { matter, is_near: true }).collect();
        ended(&matter(event), &promises, &rarity).into_iter().map(|(at, _)| at).collect()
    }

    #[test]
    fn an_event_in_other_words_ends_the_promise_of_its_matter() {
        for (event, promise) in [
            ("Alice Chen sent the API design to Bob.", "Alice Chen will send the API design by Friday."),
            ("Alice shipped the onboarding guide yesterday.", "Alice will write the onboarding guide."),
            (
                "Alice finished the migration of the database.",
                "Alice agreed to migrate the database by May 15.",
            ),
            ("Alice closed APO-12.", "Alice will look into APO-12, the slow login."),
            ("Alice delivered the report.", "Alice will prepare the budget report for the board."),
        ] {
            assert_eq!(ends(event, &[promise]), [0], "{event}");
        }
    }

    #[test]
    fn what_nobody_did_ends_a_promise_of_the_same_words() {
        for (event, promise, ends) in [
            ("The garden fence is painted.", "Ben will paint the garden fence.", true),
            ("The API keys have been rotated.", "Ben will rotate the API keys by Friday.", true),
            ("The Acme portal login is fixed.", "Ben will fix the Acme portal search.", false),
            ("The letter to Anna Kovacs is sent.", "Ben will send the badge to Anna Kovacs.", false),
            ("The report is ready.", "Ben will write the security report.", false),
            ("APO-12 is merged.", "Ben will write the release notes for APO-12.", false),
            ("Done.", "Ben will paint the garden fence.", false),
            ("Sent the recipe to Kirsten.", "Have to send Kirsten the recipe by Monday.", true),
            ("Sent the photos to Kirsten.", "Have to send Kirsten the recipe by Monday.", false),
            ("Paid Carl back.", "Need to pay Carl back the 45 euros by Sunday.", true),
            ("Don't add Sentry to the worker.", "I'll add Sentry to the worker.", true),
            ("Don't paint the shed.", "Ben will paint the garden shed.", false),
        ] {
            let promised = CommitmentFingerprint::of(promise, &["Ben".to_owned()], &[]);
            let promises = [Promise { matter: &promised, is_near: true }];
            let rarity = Rarity::of([&promised].into_iter());
            let told = CommitmentFingerprint::of(event, &[], &[]);
            assert_eq!(!ended_by_anyone(&told, &promises, &rarity).is_empty(), ends, "{event}");
        }
    }

    #[test]
    fn a_matter_is_read_as_it_was_stored() {
        let narrative = "Alice will ship release 2 of the client, APO-12.";
        let matter = CommitmentFingerprint::of(narrative, &["Alice".to_owned()], &[7, 9]);
        assert!(matter.tags().iter().any(|tag| tag == "tapo-12") && !matter.is_bare());
        assert_eq!(CommitmentFingerprint::from_tags(&matter.tags()), matter);
        assert_eq!(
            CommitmentFingerprint::from_tags(&["!He will sing.".to_owned()]),
            CommitmentFingerprint::of("He will sing.", &[], &[])
        );
    }

    #[test]
    fn an_event_about_something_else_ends_nothing() {
        for (event, promise) in [
            ("Alice sent the invoice.", "Alice will send the API design."),
            ("Alice reviewed the schema.", "Alice will review the draft."),
            ("Alice fixed the login bug of the report page.", "Alice will send the report."),
            ("Alice closed APO-13.", "Alice will fix APO-12."),
            ("Alice shipped release 3 of the client.", "Alice will ship release 2 of the client."),
            ("Alice fixed the kitchen tap.", "Alice will fix the kitchen window."),
            ("Alice paid the gas bill.", "Alice will pay the electricity bill."),
            ("Alice painted the front door.", "Alice will paint the back door."),
            ("Alice sold the big tent.", "Alice will buy the big tent."),
            ("Alice will not discuss the report.", "Alice will write the report."),
        ] {
            assert_eq!(ends(event, &[promise]), [0_usize; 0], "{event}");
        }
    }

    #[test]
    fn between_promises_only_a_clear_lead_decides() {
        let reports = ["Alice will write the security report.", "Alice will write the budget report."];
        assert_eq!(ends("Alice wrote the report.", &reports), [0_usize; 0]);
        assert_eq!(ends("Alice wrote the budget report.", &reports), [1]);
        let retold =
            ["Alice will write the budget report.", "Alice agreed to write the budget report by May."];
        assert_eq!(ends("Alice finished the budget report.", &retold), [0, 1], "a promise that is repeated");
    }

    #[test]
    fn done_ends_the_only_promise_that_stands_near() {
        let one = ["Alice will send the API design."];
        for event in ["Alice Chen is done.", "Done.", "Alice shipped it.", "Alice did it."] {
            assert_eq!(ends(event, &one), [0], "{event}");
        }
        let two = ["Alice will send the API design.", "Alice will review the budget."];
        assert_eq!(ends("Done.", &two), [0_usize; 0]);
        assert_eq!(ends("Alice sent it.", &two), [0]);
        let far = matter("Alice will send the API design.");
        let promise = Promise { matter: &far, is_near: false };
        assert!(ended(&matter("Done."), &[promise], &Rarity::default()).is_empty());
    }

    #[test]
    fn what_is_cancelled_or_under_way_is_told_from_what_is_done() {
        use Category::{Change, Decision, Execution};
        assert_eq!(ending(Execution, "Alice sent it."), Some(Ending::Fulfils));
        assert_eq!(ending(Change, "Alice cancelled the workshop."), Some(Ending::Cancels));
        assert_eq!(ending(Change, "Alice called the workshop off."), Some(Ending::Cancels));
        assert_eq!(ending(Change, "The workshop was called off by Alice."), Some(Ending::Cancels));
        assert_eq!(ending(Change, "Alice moved the workshop."), None);
        assert_eq!(ending(Execution, "Alice started the migration."), None);
        assert_eq!(ending(Execution, "Alice has not sent it."), None);
        assert_eq!(ending(Decision, "They dropped it."), None);
        assert_eq!(ending(Decision, "Ben cancelled the team dinner."), Some(Ending::Cancels));
        assert_eq!(ending(Decision, "Ben decided to cancel the team dinner."), Some(Ending::Cancels));
        for cancelled in [
            "Anna and Ben agreed to cancel the team dinner.",
            "Decision: cancel the dinner.",
            "Ben cancelled the half-day workshop.",
        ] {
            assert_eq!(ending(Decision, cancelled), Some(Ending::Cancels), "{cancelled}");
        }
        assert_eq!(ending(Decision, "Ben decided not to cancel the team dinner."), None);
        assert_eq!(ending(Decision, "Ben decided that members may cancel until noon."), None);
        for off in [
            "Freya isn't bringing the telescope after all.",
            "Yusuf no longer needs to write it.",
            "We won’t paint the shed.",
        ] {
            assert_eq!(ending(Decision, off), Some(Ending::Cancels), "{off}");
        }
        assert_eq!(ending(Decision, "We won't paint the shed until May."), None);
    }

    #[test]
    fn a_promise_is_overdue_only_while_it_is_open() {
        let now: Timestamp = "2026-03-20T00:00:00Z".parse().unwrap();
        let due: Timestamp = "2026-03-19T00:00:00Z".parse().unwrap();
        assert_eq!(CommitmentState::of(None, Some(due), now), CommitmentState::Overdue);
        assert_eq!(CommitmentState::of(None, None, now), CommitmentState::Open);
        assert_eq!(CommitmentState::of(Some(Ending::Fulfils), Some(due), now), CommitmentState::Done);
        assert_eq!(CommitmentState::of(Some(Ending::Cancels), Some(due), now), CommitmentState::Cancelled);
    }
}
