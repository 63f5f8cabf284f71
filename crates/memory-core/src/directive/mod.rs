//! Directives: what the user wants of whoever helps, for longer than one answer. Lasting instructions ("always format
//! code with syntax highlighting when I ask about implementation") and preferences ("I prefer minimal dependencies").
//!
//! They are found by rules over words when a text is stored, in time linear in the text, and compared with each other:
//! a later one that is contrary about the same thing takes the place of an earlier one.

mod back;
mod bounds;
mod choice;
mod clauses;
mod colons;
mod conditions;
mod context;
mod denied;
mod ended;
mod heads;
mod health;
mod house;
mod items;
mod judged;
mod kinds;
mod lasting;
mod learned;
mod length;
mod lines;
mod moment;
mod once;
mod orders;
mod parts;
mod permission;
mod pieces;
mod reading;
mod refused;
mod rules;
mod same_thing;
mod sentence;
mod settings;
mod speakers;
mod stems;
mod tokens;
mod told;
mod vetoes;
mod wishes;
mod without_comma;
mod words;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::slice;

use memory_language::text::{CharIndex, CharSpan};

use self::back::Need;
use self::clauses::Statement;
use self::learned::Place;
use self::reading::{place_of, sentences_of, words_of};
use self::sentence::Sentence;
use self::speakers::{Around, Voice};
use self::words::list;
use crate::artifact::Metadata;
use crate::ports::SentenceLogits;

pub use choice::{
    CIRCUMSTANCE_BEARS, Candidate, Chosen, DIRECTIVES_MAX, asks_for_work, choose, may_be_borne_on,
};
pub use context::{AROUND_CHARS, sentence_of, with_context};
pub use ended::only_takes_back;
pub use judged::{HeldAgainst, ToHold, to_hold_against};
pub use lasting::has_ended;
pub use reading::{LearnedClause, SentenceToJudge, clauses_to_learn, sentences_to_judge};
pub use same_thing::Gist;

/// The most directives of one text.
pub const OF_TEXT_MAX: usize = 50;
/// "Please, when you …": so many words may stand before a condition that a sentence begins with.
const LEAD_WORDS_MAX: usize = 2;
/// The longest statement, in characters.
const STATEMENT_MAX_CHARS: usize = 300;

/// A directive that a text states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDirective {
    /// Of the statement in its content.
    pub span: CharSpan,
    /// The content there.
    pub quote: String,
    /// When it holds, in its words.
    pub condition: Option<String>,
    /// It is about answers as such and bears on every question.
    pub is_general: bool,
    /// It only allows again what was not wanted.
    pub is_permission: bool,
    /// It holds in its conversation only.
    pub in_conversation: bool,
    /// Somebody with a name says it, who may be another than the user.
    pub by_somebody: bool,
    /// It is no directive, but something that requests may depend on: "heat above 35 and I faint".
    pub is_circumstance: bool,
}

/// What a question is compared with: the condition, or all that is stated.
pub fn focus<'a>(quote: &'a str, condition: Option<&'a str>) -> &'a str {
    match condition {
        // "in my Python" says too little by itself.
        Some(condition) if condition.split_whitespace().count() > 3 => conditions::topic(condition),
        _ => quote,
    }
}

/// Whether it says that it is of the user, wherever it was said: "I prefer …", "call me Sam".
pub fn is_about_user(quote: &str) -> bool {
    let sentence = Sentence::new(quote, 0..quote.len());
    (0..sentence.len()).any(|at| {
        matches!(
            sentence.word(at),
            Some("i" | "i'm" | "i'd" | "i've" | "i'll" | "me" | "my" | "mine" | "user" | "user's")
        )
    })
}

/// Whether it says what must not be, or bounds something: "no seafood", "never …", "at most 140 euros", "ask me before you …".
pub fn is_limit(quote: &str) -> bool {
    let sentence = Sentence::new(quote, 0..quote.len());
    (0..sentence.len()).any(|at| {
        sentence.word(at).is_some_and(|word| {
            word.ends_with("n't")
                || word.starts_with("allerg")
                || matches!(
                    word,
                    "no" | "not"
                        | "never"
                        | "without"
                        | "avoid"
                        | "stop"
                        | "must"
                        | "only"
                        | "max"
                        | "most"
                        | "intolerant"
                        | "cannot"
                        | "before"
                        | "dont"
                )
        })
    })
}

/// What a text that the text encoder has judged says of directives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judged {
    pub directives: Vec<FoundDirective>,
    /// Sentences that state none and may end or change one that was stated before, each as a permission, the likeliest first.
    pub revising: Vec<FoundDirective>,
    /// Sentences that state none and that requests may depend on.
    pub circumstances: Vec<FoundDirective>,
}

/// The directives in a content, in order, as far as rules and words tell.
pub fn find_directives(content: &str, meta: &Metadata) -> Vec<FoundDirective> {
    found(content, meta, None).directives
}

/// The same where the text encoder has judged [`sentences_to_judge`], in their order, or the first of them: it decides which of these
/// state directives.
pub fn find_judged_directives(content: &str, meta: &Metadata, judged: &[SentenceLogits]) -> Judged {
    found(content, meta, Some(judged))
}

fn found(content: &str, meta: &Metadata, judged: Option<&[SentenceLogits]>) -> Judged {
    let judged = judged.map(<[_]>::iter);
    let is_to_others = speakers::is_to_others(meta);
    if is_to_others && judged.is_none() {
        // Only the encoder finds what is in them.
        return Judged::default();
    }
    let mut found = Found {
        content,
        judged,
        by_somebody: is_to_others || speakers::is_lone_turn(meta),
        is_to_others,
        index: None,
        found: Judged::default(),
        revising: Vec::new(),
    };
    for (bytes, voice) in speakers::parts(content, meta) {
        found.read(bytes, voice);
    }
    let Found { found, mut revising, .. } = found;
    revising.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Judged { revising: revising.into_iter().map(|(_, found)| found).collect(), ..found }
}

struct Found<'a> {
    content: &'a str,
    /// What the text encoder says of the sentences that are still to be read.
    judged: Option<slice::Iter<'a, SentenceLogits>>,
    /// It may not be the user who speaks: only what the encoder is sure of is surely one.
    by_somebody: bool,
    /// What it wants it wants of others: it has circumstances only.
    is_to_others: bool,
    /// Made when the first is found: most texts have none.
    index: Option<CharIndex>,
    found: Judged,
    /// Each with how likely.
    revising: Vec<(f32, FoundDirective)>,
}

impl Found<'_> {
    fn read(&mut self, bytes: Range<usize>, voice: Voice) {
        let read = sentences_of(self.content, bytes);
        let has_task = voice == Voice::User && read.iter().any(|(sentence, _)| rules::is_task(sentence));
        let words = words_of(&read);
        let are_listed = items::among_directives(&read, voice, words);
        let (mut is_listed, mut is_denied, mut follows_user) = (false, false, false);
        let mut setting = None;
        for (at, (sentence, is_marked)) in read.iter().enumerate() {
            let judged = self.judged(sentence);
            let is_open = sentence.mark(sentence.len().saturating_sub(1)) == Some(":");
            if is_open || rules::is_heading(sentence, *is_marked) {
                is_listed = rules::is_heading(sentence, *is_marked);
                is_denied = denied::denies_items(sentence, sentence.len());
                setting = items::setting(sentence);
            } else if !sentence.is_item {
                (is_listed, is_denied, setting) = (false, false, None);
            } else if is_denied && !denied::denies_items(sentence, sentence.len().min(3)) {
                continue;
            }
            let place = place_of(&read, at, voice, words);
            let kept_as = voice.behind(sentence.introduced);
            let is_listed = is_listed || are_listed[at];
            let around = Around { voice: kept_as, has_task, is_listed, follows_user };
            follows_user =
                heads::tells_of_user(sentence) || (follows_user && rules::goes_on_about_user(sentence));
            let states = judged.map(|logits| logits.states[place.voice as usize]);
            let stated = if self.is_to_others {
                Vec::new()
            } else {
                let stated = rules::statements(sentence, around, place);
                match states {
                    None => stated,
                    Some(log_odds) => judged::statements(sentence, place, stated, log_odds),
                }
            };
            let is_clear = states.is_some_and(|log_odds| log_odds >= judged::CLEAR_MIN);
            if let Some(judged) = judged.filter(|_| stated.is_empty()) {
                self.keep_beside(sentence, place, judged);
            }
            let before = at.checked_sub(1).map(|before| &read[before].0);
            for statement in stated {
                if self.found.directives.len() == OF_TEXT_MAX {
                    return;
                }
                let known = self.found.directives.len();
                self.keep(sentence, statement, before, setting);
                for found in self.found.directives.iter_mut().skip(known) {
                    found.by_somebody = self.by_somebody && !is_clear;
                }
            }
        }
    }

    /// What the text encoder says of the next sentence, if it was asked.
    fn judged(&mut self, sentence: &Sentence<'_>) -> Option<SentenceLogits> {
        let judged = self.judged.as_mut()?;
        sentence.bytes(0, sentence.len()).and_then(|_| judged.next().copied())
    }

    /// Keeps a sentence that states no directive where it may end or change one that was stated before, and where requests may depend
    /// on it.
    fn keep_beside(&mut self, sentence: &Sentence<'_>, place: Place, judged: SentenceLogits) {
        let revises =
            judged::may_revise(sentence, place, judged.revises) && self.revising.len() < OF_TEXT_MAX;
        let binds =
            judged::may_bind(sentence, place, judged.binds) && self.found.circumstances.len() < OF_TEXT_MAX;
        if !revises && !binds {
            return;
        }
        let index = self.index.get_or_insert_with(|| CharIndex::new(self.content));
        let whole = Statement { tokens: (0, sentence.len()), condition: None, is_permission: false };
        let Some(found) = directive(sentence, whole, index) else { return };
        let found = FoundDirective { by_somebody: self.by_somebody, ..found };
        if binds {
            let circumstance = FoundDirective { is_circumstance: true, is_general: false, ..found.clone() };
            self.found.circumstances.push(circumstance);
        }
        if revises {
            self.revising.push((judged.revises, FoundDirective { is_permission: true, ..found }));
        }
    }

    /// Keeps a statement, with the sentence before it where its words point back to that, and the setting that its list is for.
    fn keep(
        &mut self,
        sentence: &Sentence<'_>,
        statement: Statement,
        before: Option<&Sentence<'_>>,
        setting: Option<&str>,
    ) {
        let going_on = before.and_then(|before| self.condition_going_on(sentence, before));
        let need = back::need(sentence, statement.tokens);
        let from =
            before.and_then(|before| back::sentence_before(before, sentence)).filter(|_| need != Need::None);
        let index = self.index.get_or_insert_with(|| CharIndex::new(self.content));
        let Some(mut found) = directive(sentence, statement, index) else { return };
        if let Some(setting) = setting {
            found.condition.get_or_insert_with(|| setting.to_owned());
            found.is_general = false;
        }
        if let Some(condition) = going_on {
            found.condition.get_or_insert(condition);
            found.is_general = false;
        }
        let joined = from.and_then(|from| {
            let end = found.span.end;
            let start = index.span(self.content, from..from).start;
            let last = self.found.directives.last().filter(|last| last.span.end > start);
            let start = last.map_or(start, |last| last.span.start.min(start));
            let span = CharSpan { start, end };
            let is_short = end - start <= STATEMENT_MAX_CHARS;
            let goes_on = last.map_or(need == Need::Some, |last| !last.is_permission);
            (is_short && goes_on).then_some(span)
        });
        match joined {
            Some(span) => {
                if let Some(last) = self.found.directives.pop_if(|last| last.span.end > span.start) {
                    found.condition = last.condition.or(found.condition);
                }
                span.of(self.content).unwrap_or_default().clone_into(&mut found.quote);
                found.span = span;
            }
            None if need == Need::All => return,
            None => {}
        }
        // What reaches back to the beginning of its sentence has the statements before it in it.
        let is_within = |start: usize| (found.span.start..found.span.end).contains(&start);
        self.found.directives.retain(|before| !is_within(before.span.start));
        self.found.directives.push(found);
    }

    /// "When you draft a text to Mum write … And no abbreviations.": the condition of the statement in the sentence before, which it
    /// begins with.
    fn condition_going_on(&mut self, sentence: &Sentence<'_>, before: &Sentence<'_>) -> Option<String> {
        if sentence.word(0) != Some("and") {
            return None;
        }
        let bytes = before.bytes(0, before.len())?;
        let index = self.index.get_or_insert_with(|| CharIndex::new(self.content));
        let span = index.span(self.content, bytes.clone());
        let last = self.found.directives.last().filter(|last| last.span.start >= span.start)?;
        let before = &self.content[bytes];
        let leads = |condition: &String| {
            let at = before.find(condition.as_str());
            at.is_some_and(|at| before[..at].split_whitespace().count() <= LEAD_WORDS_MAX)
        };
        last.condition.clone().filter(leads)
    }
}

fn directive(sentence: &Sentence<'_>, statement: Statement, index: &CharIndex) -> Option<FoundDirective> {
    let (start, mut end) = bounds::with_whole_brackets(sentence, statement.tokens);
    let mut bytes = sentence.bytes(start, end)?;
    while sentence.content[bytes.clone()].chars().count() > STATEMENT_MAX_CHARS {
        end -= 1;
        bytes = sentence.bytes(start, end)?;
    }
    let condition = statement
        .condition
        .filter(|(from, to)| *to <= end && list("here only").at(sentence, *from, *to) == 0)
        .map(|(from, to)| sentence.text(from, to).to_owned())
        .filter(|condition| !condition.is_empty() && !conditions::is_of_any_question(condition));
    // "Write status reports in bullet points" is about reports, "keep your emails short" about answers.
    let is_yours = (start..end).any(|at| {
        (sentence.word(at) == Some("your") && list("answers").at(sentence, at, end) > 0)
            || matches!(sentence.word(at), Some("answers" | "responses" | "replies"))
    });
    // "No exclamation marks with him" is about what he is sent.
    let is_of_another =
        (start..end).any(|at| matches!(sentence.word(at), Some("him" | "her" | "his" | "he" | "she")));
    let is_general = condition.is_none()
        && !is_of_another
        && !permission::allows_something(sentence, (start, end))
        && !settings::has_setting(sentence.text(start, end))
        && list("answers").within(sentence, start, end)
        && (is_yours || !list("documents").within(sentence, start, end));
    Some(FoundDirective {
        span: index.span(sentence.content, bytes.clone()),
        quote: sentence.content[bytes].to_owned(),
        is_general,
        is_permission: statement.is_permission,
        in_conversation: list("here only").within(sentence, 0, sentence.len()),
        by_somebody: false,
        is_circumstance: false,
        condition,
    })
}
