//! The clause model: for each clause, which category of event it tells, if any, and how likely that is.
//!
//! It weighs what the clause shows and what the hand-written rules say of it. Actors, times and narratives are the rules'.

mod clause_features;
mod clauses;
mod compose_event;
mod declared;
mod feature_weights;
mod happenings;
mod lexicon;
mod page;
#[cfg(test)]
mod tests;
mod token_features;
mod told_as_done;
mod untaken;
mod vetoes;
mod weights;

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use memory_core::event::{ActorRole, Category};
use memory_core::ports::{EncoderError, SourceText, TextEncoder};
use memory_language::text::CharSpan;

pub(super) use self::clause_features::Sink;
use self::clause_features::{Seen, Verdict};
use self::clauses::{Candidate, candidates};
use self::happenings::is_of_a_day_to_come;
use self::page::Page;
use super::Found;
use super::by_form;
use super::draft::Draft;
use super::draft_index::DraftIndex;
use super::joined::Joined;
use super::parsed_segment::ParsedSegment;
use super::people::Roster;
use super::requests;
pub(super) use feature_weights::{FeatureWeights, check_version, numbered};
pub use feature_weights::{SCALE, softmax};
#[cfg(test)]
pub(super) use lexicon::read as read_word_classes;
pub use weights::{
    Blend, CLASSES, ClauseModel, FEATURES_VERSION, Odds, Thresholds, in_their_text, is_short, logarithm,
};

/// A clause that is so likely to tell nothing is not given to the encoder.
const CERTAINLY_NONE: f32 = 0.995;
/// An encoder takes some milliseconds for each of them, and other texts wait for it.
const ENCODED_MAX_CLAUSES: usize = 2_000;

/// A clause as the model sees it, for training.
#[derive(Debug, Clone)]
pub struct ClauseSeen {
    pub segment: usize,
    pub span: CharSpan,
    /// The names of its features, in order, each once.
    pub features: Vec<String>,
}

/// All clauses of a source with their features, which depend on the names in it.
pub async fn clauses_of(
    source: &SourceText,
    encoder: Option<&dyn TextEncoder>,
) -> Result<Vec<ClauseSeen>, EncoderError> {
    let Found { parsed_segments, drafts, .. } = super::found(source, encoder).await?;
    let index = DraftIndex::of(&drafts);
    let mut all = Vec::new();
    for parsed in parsed_segments.iter().filter(|parsed| !parsed.context_only) {
        let candidates = candidates(parsed);
        let page = Page::of(source, parsed);
        let seen = Seen { parsed, page: &page, candidates: &candidates };
        for (at, candidate) in candidates.iter().enumerate() {
            let mut sink = Sink::named();
            seen.features(at, &verdicts(parsed, candidate, &drafts, &index), &mut sink);
            let span = parsed.text.span(&parsed.text.bytes(&candidate.tokens));
            all.push(ClauseSeen { segment: parsed.segment, span, features: sink.into_names() });
        }
    }
    Ok(all)
}

/// What an encoder is given of a text.
#[derive(Debug)]
pub struct EncoderInput {
    /// The segments with their speakers, one below the other.
    pub text: Arc<str>,
    /// Which clauses, by their place among all.
    pub numbers: Vec<usize>,
    /// Where those stand in `text`, in bytes.
    pub clauses: Vec<Range<usize>>,
}

impl EncoderInput {
    /// `odds` are those of all clauses, in the order of [`clauses_of`] with the same encoder; nothing without a clause
    /// that may tell something.
    pub async fn of(
        source: &SourceText,
        encoder: Option<&dyn TextEncoder>,
        odds: &[Odds],
    ) -> Result<Option<Self>, EncoderError> {
        let Found { parsed_segments, .. } = super::found(source, encoder).await?;
        let all: Vec<_> = parsed_segments
            .iter()
            .filter(|parsed| !parsed.context_only)
            .map(|parsed| (parsed, candidates(parsed)))
            .collect();
        Ok(Self::with(source, &parsed_segments, &all, odds))
    }

    fn with(
        source: &SourceText,
        parsed_segments: &[ParsedSegment<'_>],
        candidates: &[(&ParsedSegment<'_>, Vec<Candidate>)],
        odds: &[Odds],
    ) -> Option<Self> {
        let numbers = uncertain(odds);
        let mut wanted = numbers.iter().copied().peekable();
        wanted.peek()?;
        let joined = Joined::of(source, parsed_segments);
        let mut candidates = candidates.iter().peekable();
        let (mut clauses, mut seen) = (Vec::new(), 0);
        for (segment, parsed) in parsed_segments.iter().enumerate() {
            let Some((_, own)) = candidates.next_if(|(of, _)| of.segment == parsed.segment) else { continue };
            while let Some(number) = wanted.next_if(|number| *number < seen + own.len()) {
                clauses.push(joined.place(segment, &parsed.text.bytes(&own[number - seen].tokens)));
            }
            seen += own.len();
        }
        Some(Self { text: joined.text, numbers, clauses })
    }
}

/// The clauses that may tell something, of very long texts the likeliest.
fn uncertain(odds: &[Odds]) -> Vec<usize> {
    let mut numbers: Vec<usize> =
        (0..odds.len()).filter(|number| odds[*number][0] < CERTAINLY_NONE).collect();
    if numbers.len() > ENCODED_MAX_CLAUSES {
        numbers.sort_by(|a, b| odds[*a][0].total_cmp(&odds[*b][0]));
        numbers.truncate(ENCODED_MAX_CLAUSES);
        numbers.sort_unstable();
    }
    numbers
}

/// The clauses of a source, and how likely each tells what.
pub(super) struct Clauses<'f> {
    is_declared: bool,
    parsed_segments: &'f [ParsedSegment<'f>],
    candidates: Vec<(&'f ParsedSegment<'f>, Vec<Candidate>)>,
    index: DraftIndex,
    pub(super) odds: Vec<Odds>,
}

impl<'f> Clauses<'f> {
    pub(super) fn of(
        model: &ClauseModel,
        source: &SourceText,
        parsed_segments: &'f [ParsedSegment<'f>],
        drafts: &[Draft],
    ) -> Self {
        let index = DraftIndex::of(drafts);
        let mut all = Vec::new();
        let mut odds = Vec::new();
        let mut sink = Sink::default();
        for parsed in parsed_segments.iter().filter(|parsed| !parsed.context_only) {
            let candidates = candidates(parsed);
            let page = Page::of(source, parsed);
            let seen = Seen { parsed, page: &page, candidates: &candidates };
            for (at, candidate) in candidates.iter().enumerate() {
                sink.clear();
                seen.features(at, &verdicts(parsed, candidate, drafts, &index), &mut sink);
                odds.push(model.odds(sink.hashes()));
            }
            all.push((parsed, candidates));
        }
        Self { is_declared: declared::is_declared(source), parsed_segments, candidates: all, index, odds }
    }

    /// What an encoder is to classify.
    pub(super) fn encoder_input(&self, source: &SourceText) -> Option<EncoderInput> {
        EncoderInput::with(source, self.parsed_segments, &self.candidates, &self.odds)
    }
}

/// The events of a source: what is likely enough, told with the rules' drafts where they have one.
pub(super) fn judged(
    clauses: Clauses<'_>,
    thresholds: &[f32; Category::ALL.len()],
    roster: &Roster,
    drafts: Vec<Draft>,
) -> Vec<Draft> {
    let Clauses { is_declared, candidates, index, odds: mut all_odds, .. } = clauses;
    in_their_text(&mut all_odds);
    let is_lone = vetoes::is_lone(&candidates);
    let mut odds = all_odds.iter();
    let mut used = vec![false; drafts.len()];
    let mut told = Vec::new();
    for (parsed, candidates) in &candidates {
        let likely: Vec<(usize, Category, f32)> = odds
            .by_ref()
            .take(candidates.len())
            .enumerate()
            .filter_map(|(at, odds)| {
                ClauseModel::category(odds, thresholds).map(|(category, odd)| (at, category, odd))
            })
            .map(|(at, category, odd)| match category {
                Category::Decision if requests::hands_on(parsed, &candidates[at].tokens) => {
                    (at, Category::Commitment, odd)
                }
                Category::Execution if is_of_a_day_to_come(parsed, &candidates[at]) => {
                    (at, Category::Commitment, odd)
                }
                _ => (at, category, odd),
            })
            .filter(|(at, category, _)| !vetoes::rules_out(parsed, &candidates[*at], *category, is_lone))
            .collect();
        told.extend(told_in(parsed, roster, candidates, &likely, (&drafts, &index), &mut used));
    }
    // What took two turns to agree on is more than its clauses.
    let acts = drafts.into_iter().zip(used).filter(|(draft, used)| !used && draft.evidence.len() > 1);
    told.extend(acts.map(|(draft, _)| draft));
    if is_declared && thresholds.iter().all(|least| *least <= by_form::CONFIDENCE) {
        declared::add(&candidates, &all_odds, roster, &mut told);
    }
    told
}

/// The drafts of what is likely in a segment: the rules' own where they have one that is not `used` yet.
fn told_in(
    parsed: &ParsedSegment<'_>,
    roster: &Roster,
    candidates: &[Candidate],
    likely: &[(usize, Category, f32)],
    (drafts, index): (&[Draft], &DraftIndex),
    used: &mut [bool],
) -> Vec<Draft> {
    let mut told = Vec::with_capacity(likely.len());
    for (number, (at, category, odd)) in likely.iter().enumerate() {
        let candidate = &candidates[*at];
        let bytes = parsed.text.bytes(&candidate.tokens);
        let meeting = index.meeting(parsed.segment, &bytes).into_iter();
        let fitting = meeting.filter(|known| !used[*known] && drafts[*known].category == *category);
        // What took two turns says more than the answer alone: the most pieces, the first of these.
        if let Some(known) = fitting.min_by_key(|known| Reverse(drafts[*known].evidence.len())) {
            used[known] = true;
            let mut draft = Draft { confidence: *odd, ..drafts[known].clone() };
            if is_without_owner(&draft) {
                let composed = compose_event::draft(parsed, roster, candidate, *category, *odd, false);
                draft.own(&composed.actors);
            }
            told.push(draft);
            continue;
        }
        let same = |other: &usize| candidates[*other].sentence == candidate.sentence;
        let before = number.checked_sub(1).is_some_and(|before| same(&likely[before].0));
        let after = likely.get(number + 1).is_some_and(|(after, ..)| same(after));
        let alone = !(before || after || candidate.is_apart);
        told.push(compose_event::draft(parsed, roster, candidate, *category, *odd, alone));
    }
    told
}

/// A promise whose one who is to keep it the rules did not find.
fn is_without_owner(draft: &Draft) -> bool {
    draft.category == Category::Commitment && !draft.actors.iter().any(|actor| actor.role == ActorRole::Owner)
}

fn verdicts(
    parsed: &ParsedSegment<'_>,
    candidate: &Candidate,
    drafts: &[Draft],
    index: &DraftIndex,
) -> Vec<Verdict> {
    let bytes = parsed.text.bytes(&candidate.tokens);
    let meeting = index.meeting(parsed.segment, &bytes).into_iter().map(|draft| &drafts[draft]);
    let mut verdicts: Vec<Verdict> = meeting.map(|draft| (draft.category, draft.confidence)).collect();
    verdicts.sort_by(|a, b| b.1.total_cmp(&a.1));
    verdicts
}
