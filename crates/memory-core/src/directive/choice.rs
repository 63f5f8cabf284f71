//! Which directives bear on a question.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use memory_language::asked_for::asks_for_wishes;
use memory_language::lexicon::{english_stem, is_function_word};
use memory_language::sentence::sentences;

use super::conditions::{is_of_answering, is_of_asking};
use super::focus;
use super::same_thing::Gist;
use super::sentence::Sentence;
use super::tokens::Token;
use super::words::{SUBJECTS, list};

/// The most that one answer shows.
pub const DIRECTIVES_MAX: usize = 5;
/// From this cosine of a model of what bears on what a directive may bear on a request, and from this one surely.
const BEARS: f32 = 0.26;
const BEARS_SURELY: f32 = 0.36;
/// The same of a circumstance.
pub const CIRCUMSTANCE_BEARS: f32 = 0.32;
const CIRCUMSTANCE_BEARS_SURELY: f32 = 0.45;
/// Without such a model: from this relevance on a directive bears on the question.
const RELEVANT: f32 = 0.42;
/// From this similarity on a directive may bear on a request, unless another is so much more like it.
const NEAR_REQUEST: f32 = 0.15;
const BEHIND_BEST: f32 = 0.10;
/// The same for a question that asks for a fact.
const NEAR_FACT: f32 = 0.35;
/// So many of these are shown, since each is a guess.
const NEAR_MAX: usize = 3;
/// A statement of more words than a few keywords asks for something too, unless it names code: "origin has diverged after my rebase,
/// sort it out".
const KEYWORDS_MAX: usize = 5;
/// What common words and a common subject add to the similarity of vectors.
const OF_WORDS: f32 = 0.15;
const OF_SUBJECT: f32 = 0.15;
/// What they count for where there are no vectors.
const ALONE: f32 = 3.0;
/// Taken off where a question asks back what was, which is little changed by how somebody wants things done.
const ASKED_BACK: f32 = 0.15;
/// Vectors this unlike say that a common subject is none.
const UNLIKE: f32 = 0.10;

/// A directive that may be shown.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    pub quote: &'a str,
    pub condition: Option<&'a str>,
    pub is_general: bool,
    pub is_permission: bool,
    pub is_circumstance: bool,
    /// Of its focus to the question: the cosine.
    pub similarity: Option<f32>,
    /// The cosine by which it bears on the request, where there is a model for that.
    pub bearing: Option<f32>,
    /// Of the passage that it stands in, where the search has found that.
    pub of_passage: Option<f32>,
}

/// How a directive bears on a question.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Bearing {
    /// It is about answers as such.
    General,
    /// It is among those most like the request.
    Near(f32),
    /// It is of the question's subject, and so is what the question would have to ask about.
    OfSubject(f32),
    Met(f32),
}

/// One that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    /// Its place among those given.
    pub at: usize,
    /// The question is one that it is meant for: what stands there is as good an answer as any. Not of one about answers as such, nor
    /// where the question asks what was or what somebody has.
    pub is_answer: bool,
}

/// Whether directives that are not about answers as such may bear on a question: not where it asks for a fact, back for what was, or for
/// the directives themselves.
pub fn may_be_borne_on(question: &str) -> bool {
    Asked::new(question).may_be_borne_on()
}

/// Those that bear on the question, best first: those that it meets, those of its subject, some of those most like it, and
/// those that are about answers as such. What says the same as one of them is left out. Of equals the first given comes first.
pub fn choose(question: &str, candidates: &[Candidate<'_>]) -> Vec<Chosen> {
    let asked = Asked::new(question);
    let best = candidates.iter().filter_map(similarity).fold(0.0, f32::max);
    let mut bearing: Vec<(usize, Bearing)> = candidates
        .iter()
        .enumerate()
        .filter_map(|(at, candidate)| Some((at, asked.bearing(candidate, best)?)))
        .collect();
    // A stable sort.
    bearing.sort_by(|(_, a), (_, b)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
    let mut chosen: Vec<(Chosen, Gist)> = Vec::new();
    let mut near = 0;
    for (at, bearing) in bearing {
        let candidate = &candidates[at];
        let gist = Gist::new(candidate.quote, candidate.condition, candidate.is_permission);
        let is_near = matches!(bearing, Bearing::Near(_));
        if is_near && near == NEAR_MAX {
            continue;
        }
        if !chosen.iter().any(|(_, shown)| shown.repeats(&gist)) {
            near += usize::from(is_near);
            let is_sure = !is_near && bearing != Bearing::General;
            let is_answer = !asked.is_back && !asked.is_of_facts && is_sure;
            chosen.push((Chosen { at, is_answer }, gist));
        }
        if chosen.len() == DIRECTIVES_MAX {
            break;
        }
    }
    chosen.into_iter().map(|(chosen, _)| chosen).collect()
}

/// A question in words.
struct Asked<'a> {
    sentence: Sentence<'a>,
    stems: BTreeSet<String>,
    /// It asks back what was.
    is_back: bool,
    /// It asks what somebody did or has: how that is told is no answer.
    is_of_facts: bool,
    /// It asks for a fact, and for nothing to be made, advised or done.
    is_plain: bool,
    /// It asks for something to be made, advised or done.
    is_request: bool,
    /// It asks for directives as such.
    is_of_wishes: bool,
}

impl<'a> Asked<'a> {
    fn new(question: &'a str) -> Self {
        let sentence = Sentence::new(question, 0..question.len());
        let end = sentence.len();
        let is_for_advice = asks_for_advice(&sentence);
        let is_for_help = is_for_advice || list("asked for help").within(&sentence, 0, end);
        let is_back = list("asked back").within(&sentence, 0, end) && !is_for_help;
        let last = last_sentence(question);
        let is_of_facts = !is_for_advice && asks_what_is_had(&last);
        let asks = |at: usize| {
            matches!(sentence.word(at), Some("should" | "please" | "need" | "best" | "recommend" | "suggest"))
        };
        // "Where do we send it?" asks for nothing to be done.
        let requests = |at: usize| {
            list("request").at(&sentence, at, end) > 0 && (at == 0 || sentence.word(at) != Some("do"))
        };
        let is_request = (0..end).any(|at| asks(at) || requests(at))
            || is_for_help
            || sentence.word(0).is_some_and(is_work);
        let is_plain = is_of_facts || (!is_request && asks_for_fact(&last));
        let asks_by_telling = end > KEYWORDS_MAX && !names_code(question);
        let is_request = is_request || (!is_plain && (asks_by_telling || sentence.is_question()));
        let is_of_wishes = asks_for_wishes(question);
        Self {
            stems: content_stems(&sentence),
            sentence,
            is_back,
            is_of_facts,
            is_plain,
            is_request,
            is_of_wishes,
        }
    }

    fn may_be_borne_on(&self) -> bool {
        !self.is_plain && !self.is_back && !self.is_of_wishes
    }

    /// `best` is the similarity of the one most like the question.
    fn bearing(&self, candidate: &Candidate<'_>, best: f32) -> Option<Bearing> {
        if candidate.is_circumstance {
            let cosine = candidate.bearing.filter(|it| *it >= CIRCUMSTANCE_BEARS && self.may_be_borne_on());
            let is_sure = |it: &f32| *it >= CIRCUMSTANCE_BEARS_SURELY;
            return cosine.map(|it| if is_sure(&it) { Bearing::Met(it) } else { Bearing::Near(it) });
        }
        let by_likeness = self.by_likeness(candidate, best);
        let Some(cosine) = candidate.bearing.filter(|_| self.may_be_borne_on()) else {
            return by_likeness;
        };
        // What took the place of another may be anything that ends one.
        let (bears, surely) = if candidate.is_permission {
            (CIRCUMSTANCE_BEARS, CIRCUMSTANCE_BEARS_SURELY)
        } else {
            (BEARS, BEARS_SURELY)
        };
        // "When I ask about books, …" says itself for which questions it is; "tabs are fine now" is like few that the model has learned.
        let is_of_questions = candidate.condition.is_some_and(is_of_answering);
        match by_likeness.filter(|_| is_of_questions || candidate.is_permission) {
            Some(met @ (Bearing::Met(_) | Bearing::OfSubject(_))) => Some(met),
            _ if candidate.is_general => Some(Bearing::General),
            _ if cosine < bears => None,
            _ if cosine >= surely || is_of_questions => Some(Bearing::Met(cosine)),
            _ => Some(Bearing::Near(cosine)),
        }
    }

    /// By what is common to their words and like in their vectors.
    fn by_likeness(&self, candidate: &Candidate<'_>, best: f32) -> Option<Bearing> {
        let similarity = similarity(candidate);
        let is_of_subject = self.is_of_subject(candidate.quote);
        let of_subject = if is_of_subject { OF_SUBJECT } else { 0.0 };
        let met = OF_WORDS * self.common_words(candidate) + of_subject;
        let taken_off = if self.is_back { ASKED_BACK } else { 0.0 };
        let relevance = similarity.map_or(ALONE * met, |similarity| similarity + met) - taken_off;
        let is_like = similarity.is_none_or(|it| it >= UNLIKE);
        let near_from = if self.is_request { NEAR_REQUEST.max(best - BEHIND_BEST) } else { NEAR_FACT };
        let may_be_met = candidate.condition.is_none_or(|it| !is_of_asking(it) || self.is_of_subject(it));
        // How somebody wants things done changes no fact, unless it is said of such questions.
        let is_for_it = !self.is_plain || candidate.condition.is_some_and(is_of_asking);
        let may_bear = !self.is_plain || candidate.condition.is_some_and(is_of_answering);
        if relevance >= RELEVANT && may_bear {
            Some(Bearing::Met(relevance))
        } else if candidate.is_general || self.is_of_wishes {
            Some(Bearing::General)
        } else if is_of_subject && may_be_met && is_for_it && !self.is_back && is_like {
            Some(Bearing::OfSubject(relevance))
        } else if !self.is_back && !self.is_plain && similarity.is_some_and(|it| it >= near_from) {
            Some(Bearing::Near(relevance))
        } else {
            None
        }
    }

    /// Whether a text is about a subject of the question.
    fn is_of_subject(&self, text: &str) -> bool {
        let stated = Sentence::new(text, 0..text.len());
        SUBJECTS.iter().any(|subject| {
            subject.of_question.within(&self.sentence, 0, self.sentence.len())
                && subject.of_directive.within(&stated, 0, stated.len())
        })
    }

    /// The share of its focus that the question has, of up to three words.
    fn common_words(&self, candidate: &Candidate<'_>) -> f32 {
        let focus = focus(candidate.quote, candidate.condition);
        let of_focus = content_stems(&Sentence::new(focus, 0..focus.len()));
        let common = of_focus.intersection(&self.stems).count() as f32;
        (common / of_focus.len().clamp(1, 3) as f32).min(1.0)
    }
}

/// "Draft an offer to Mrs Wainwright", "find me a slot for a new client": whether something is to be made, which the memory helps with and
/// does not answer. "Find Jonas's number" and "tell me who came" look something up.
pub fn asks_for_work(question: &str) -> bool {
    let sentence = Sentence::new(question, 0..question.len());
    let end = sentence.len();
    let mut at = 0;
    loop {
        match list("lead-in").at(&sentence, at, end).max(list("request").at(&sentence, at, end)) {
            0 => break,
            words => at += words,
        }
    }
    let is_looked_up = match sentence.word(at) {
        Some("find" | "get") => !matches!(sentence.word(at + 1), Some("me" | "us" | "a" | "an")),
        Some("tell" | "show" | "list" | "search" | "look" | "give" | "remind" | "explain" | "check") => true,
        _ => false,
    };
    !is_looked_up && end - at > 1 && sentence.word(at).is_some_and(is_work)
}

/// "The oven has died. What do I get instead?" tells before it asks.
fn last_sentence(question: &str) -> Sentence<'_> {
    let whole = |part: &&str| part.split_whitespace().nth(1).is_some();
    let last = sentences(question).filter(whole).last().unwrap_or(question);
    Sentence::new(last, 0..last.len())
}

/// "Who has the key?", "how does it work": what somebody or something did or has. "Find the accounts that nobody has used" and "a friend
/// has invited me" ask for none of it.
fn asks_what_is_had(sentence: &Sentence<'_>) -> bool {
    const ASKS: [&str; 7] = ["who", "what", "when", "where", "which", "why", "how"];
    let end = sentence.len();
    let tells = |at: usize| matches!(sentence.word(at), Some("did" | "does" | "has" | "had"));
    let asks_back = |at: usize| sentence.word(at).is_some_and(|word| ASKS.contains(&word)) && tells(at + 1);
    let is_asked_for = sentence.word(0).is_some_and(is_work) || list("request").at(sentence, 0, end) > 0;
    let asks = sentence.is_question() || asks_for_fact(sentence) || (0..end).any(asks_back);
    asks && !is_asked_for && (0..end).any(tells)
}

/// Whether somebody who says so wants something done.
fn is_work(verb: &str) -> bool {
    const MORE: [&str; 9] =
        ["arrange", "brainstorm", "build", "compose", "cook", "debug", "fix", "invent", "sketch"];
    list("verbs").has(verb) || MORE.contains(&verb)
}

/// "Which of them could I bring?", "shall we take it?", "where do I put the tables?": it asks for advice, whatever is told before.
fn asks_for_advice(sentence: &Sentence<'_>) -> bool {
    let is_i = |at: usize| matches!(sentence.word(at), Some("i" | "we"));
    let asks_what_to_do = |at: usize| {
        matches!(sentence.word(at), Some("what" | "where" | "how" | "who"))
            && sentence.word(at + 1) == Some("do")
            && is_i(at + 2)
            && sentence.word(at + 3).is_some_and(|verb| !is_state(verb))
    };
    (0..sentence.len()).any(|at| {
        let offers = matches!(sentence.word(at), Some("could" | "should" | "shall" | "would" | "can"));
        (offers && is_i(at + 1)) || asks_what_to_do(at)
    })
}

/// "Where do we keep the key?", "what do I owe her?" ask for what is.
fn is_state(verb: &str) -> bool {
    const STATES: [&str; 14] = [
        "have", "owe", "own", "know", "mean", "keep", "need", "see", "think", "live", "work", "meet", "call",
        "store",
    ];
    STATES.contains(&verb)
}

/// "When is …", "how many …", "what grade was …": it asks for a fact, and for nothing to be made, advised or done.
fn asks_for_fact(sentence: &Sentence<'_>) -> bool {
    let end = sentence.len();
    let mut at = 0;
    while at < end && list("lead-in").at(sentence, at, end) > 0 {
        at += list("lead-in").at(sentence, at, end);
    }
    let is_in = matches!(sentence.word(at), Some("in" | "on" | "at"))
        && matches!(sentence.word(at + 1), Some("which" | "what"));
    let first = at + usize::from(is_in);
    let next = sentence.word(first + 1);
    let is = |word: Option<&str>| matches!(word, Some("is" | "was" | "are" | "were" | "does" | "did"));
    match sentence.word(first).unwrap_or_default() {
        "who" | "who's" | "whose" | "why" | "when" | "when's" | "where" | "where's" | "which" | "what's"
        | "whats" | "is" | "are" | "was" | "were" | "did" | "does" | "has" | "have" | "had" => true,
        "how" => matches!(
            next,
            Some(
                "many"
                    | "much"
                    | "old"
                    | "long"
                    | "far"
                    | "big"
                    | "heavy"
                    | "tall"
                    | "high"
                    | "often"
                    | "wide"
                    | "deep"
                    | "fast"
            )
        ),
        "what" => {
            matches!(next, Some("happened" | "changed"))
                || (first + 1..first + 4).any(|at| is(sentence.word(at)))
        }
        _ => false,
    }
}

/// Error messages and names of code have words such as `hold_pb`, `a::b` and `assign()`.
fn names_code(text: &str) -> bool {
    ["_", "::", "()"].iter().any(|sign| text.contains(sign))
}

/// To the question, of its focus or the passage that it stands in.
fn similarity(candidate: &Candidate<'_>) -> Option<f32> {
    candidate.similarity.into_iter().chain(candidate.of_passage).reduce(f32::max)
}

fn content_stems(sentence: &Sentence<'_>) -> BTreeSet<String> {
    let words = sentence.tokens.iter().flat_map(Token::words);
    words.filter(|word| !is_function_word(word) && word.len() > 1).map(english_stem).collect()
}
