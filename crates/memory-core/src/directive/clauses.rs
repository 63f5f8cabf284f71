//! Clauses: where one may begin, where it ends, and on what condition it holds.

use super::sentence::Sentence;
use super::words::list;

/// How many words a condition before its clause has at most, and a word like "in Python," before one.
const CONDITION_MAX: usize = 25;
const SETTING_MAX: usize = 7;
/// How many tokens a bracket has at most that is passed over.
const ASIDE_MAX: usize = 12;

/// A range of tokens.
pub(super) type Tokens = (usize, usize);

/// A directive within its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) tokens: Tokens,
    pub(super) condition: Option<Tokens>,
    /// It allows again what was not wanted.
    pub(super) is_permission: bool,
}

impl Statement {
    pub(super) fn new(tokens: Tokens, condition: Option<Tokens>) -> Self {
        Self { tokens, condition, is_permission: false }
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.tokens.0 < other.tokens.1 && other.tokens.0 < self.tokens.1
    }
}

/// Where clauses may begin: at the beginning, and behind marks and conjunctions.
pub(super) fn starts(sentence: &Sentence<'_>) -> Vec<usize> {
    let mut starts = vec![0];
    for at in 0..sentence.len() {
        let is_border = match sentence.mark(at) {
            Some(mark) => matches!(mark, "," | ";" | ":" | "—" | "–" | "-" | "(" | "." | "…" | "!" | "?"),
            None => matches!(sentence.word(at), Some("and" | "but" | "so" | "then")),
        };
        if is_border && at + 1 < sentence.len() {
            starts.push(at + 1);
        }
    }
    starts
}

/// Where the clause that has this token begins.
pub(super) fn start_of(sentence: &Sentence<'_>, at: usize) -> usize {
    let border = |at: &usize| {
        matches!(sentence.mark(*at), Some("," | ";" | ":" | "—" | "–" | "-" | "(" | "." | "!" | "?"))
            || matches!(sentence.word(*at), Some("so" | "but" | "and" | "because" | "since" | "that"))
    };
    (0..at).rev().find(border).map_or(0, |before| before + 1)
}

/// Where what is said from this token on ends: at a mark, or where a question or another thought follows.
pub(super) fn end_of(sentence: &Sentence<'_>, from: usize) -> usize {
    let mut at = from;
    while at < sentence.len() && !ends(sentence, at) {
        at = aside(sentence, at).unwrap_or(at) + 1;
    }
    at.min(sentence.len())
}

/// Where a short bracket closes that opens here and belongs to its clause: "`docker compose` (v2), …".
pub(super) fn aside(sentence: &Sentence<'_>, open: usize) -> Option<usize> {
    if sentence.mark(open) != Some("(") || turns(sentence, open + 1) {
        return None;
    }
    (open + 1..sentence.len().min(open + ASIDE_MAX)).find(|at| sentence.mark(*at) == Some(")"))
}

fn ends(sentence: &Sentence<'_>, at: usize) -> bool {
    match sentence.mark(at) {
        Some("(") => aside(sentence, at).is_none(),
        Some(";" | "?" | "!" | "—" | "–" | "-" | ":" | ".") => true,
        Some("," | "…") => turns(sentence, at + 1),
        Some(_) => false,
        None => {
            matches!(sentence.word(at), Some("so" | "but"))
                && list("turn").at(sentence, at + 1, sentence.len()) > 0
        }
    }
}

/// Whether a question or another thought begins here; "when I …" goes on with the same.
pub(super) fn turns(sentence: &Sentence<'_>, at: usize) -> bool {
    let end = sentence.len();
    let at = if matches!(sentence.word(at), Some("but" | "and" | "so")) { at + 1 } else { at };
    list("turn").at(sentence, at, end) > 0
}

/// A condition that stands before a clause, with its comma: "when I ask about prices, …", "in Python, …".
pub(super) fn leading_condition(sentence: &Sentence<'_>, at: usize) -> Option<Tokens> {
    let opener = list("condition").at(sentence, at, sentence.len());
    let is_condition = opener > 0 && list("standing").at(sentence, at, sentence.len()) <= opener;
    let is_setting = matches!(sentence.word(at), Some("in" | "for" | "on" | "with"));
    let reach = match (is_condition, is_setting) {
        (true, _) => CONDITION_MAX,
        (_, true) => SETTING_MAX,
        _ => return None,
    };
    let end = (at + reach).min(sentence.len());
    let comma = (at + 1..end).find(|at| matches!(sentence.mark(*at), Some("," | ":" | ";")))?;
    let is_topic = || sentence.mark(comma) == Some(":") && is_topic(sentence, at);
    let goes_on = comma + 1 < sentence.len() && (sentence.mark(comma) == Some(",") || is_topic());
    (goes_on && comma > at + 1).then_some((at, comma))
}

/// The condition that ends right before a clause: "If the build is red, | don't deploy", "When I'm tired | I prefer …".
pub(super) fn condition_before(sentence: &Sentence<'_>, start: usize) -> Option<Tokens> {
    let opens = |at: &usize| *at < start && list("condition").at(sentence, *at, start) > 0;
    let begin = starts(sentence).into_iter().rfind(opens)?;
    let comma = start.checked_sub(1).filter(|comma| sentence.mark(*comma) == Some(","));
    let end = comma.unwrap_or(start);
    let is_whole = end > begin + 1 && end - begin <= CONDITION_MAX;
    (is_whole && (begin..end).all(|at| sentence.word(at).is_some())).then_some((begin, end))
}

/// A condition that stands behind what holds on it: "… when I ask about prices", "… in my Python".
pub(super) fn trailing_condition(sentence: &Sentence<'_>, from: usize, end: usize) -> Option<Tokens> {
    (from + 1..end).find_map(|at| {
        let next = sentence.word(at + 1).filter(|_| at + 1 < end)?;
        let is_condition = list("condition").at(sentence, at, end) > 0
            && list("standing").at(sentence, at, end) == 0
            && !matches!(sentence.word(at), Some("once" | "while"));
        let is_setting = matches!(sentence.word(at), Some("in" | "for" | "on"))
            && (matches!(next, "my" | "our")
                || (matches!(next, "all" | "any" | "every")
                    && matches!(sentence.word(at + 2), Some(word) if !is_of_answers(word))));
        let colon = (at..end).find(|at| sentence.mark(*at) == Some(":"));
        (is_condition || is_setting).then_some((at, colon.unwrap_or(end)))
    })
}

/// "in all your answers", "in every reply": that is always.
fn is_of_answers(word: &str) -> bool {
    matches!(word, "your" | "answer" | "answers" | "reply" | "replies" | "response" | "responses" | "cases")
}

/// Whether a condition is one that comes up again and again.
pub(super) fn recurs(sentence: &Sentence<'_>, (start, end): Tokens) -> bool {
    let opener = list("condition").at(sentence, start, end);
    sentence.word(start) == Some("whenever")
        || is_kind_of_question(sentence, (start, end))
        || (start + opener..(start + opener + 3).min(end))
            .any(|at| list("recurring").at(sentence, at, end) > 0)
}

/// "For travel questions", "for anything medical".
fn is_kind_of_question(sentence: &Sentence<'_>, (start, end): Tokens) -> bool {
    sentence.word(start) == Some("for")
        && (matches!(sentence.word(start + 1), Some("any" | "anything" | "all" | "every" | "everything"))
            || matches!(
                sentence.word(end - 1),
                Some("questions" | "requests" | "topics" | "matters" | "tasks" | "problems")
            ))
}

/// Where the condition says of what: "when I ask about implementation" is of implementation.
pub(super) fn topic(condition: &str) -> &str {
    let words: Vec<&str> = condition.split_whitespace().collect();
    let at = words.iter().take(8).position(|word| {
        let word = word.to_lowercase();
        matches!(word.as_str(), "about" | "for" | "regarding" | "concerning" | "on")
    });
    let asks = words.iter().take(6).any(|word| word.to_lowercase().starts_with("ask"));
    match at.filter(|at| asks && at + 1 < words.len()) {
        Some(at) => {
            let from = words[at + 1].as_ptr() as usize - condition.as_ptr() as usize;
            &condition[from..]
        }
        None => condition,
    }
}

/// Whether what begins here is said to be another's: "my boss said we should …", "the guide says: never …".
pub(super) fn is_reported(sentence: &Sentence<'_>, at: usize) -> bool {
    let reporting = list("reporting");
    (0..at).any(|word| {
        reporting.at(sentence, word, at) > 0
            && !matches!(word.checked_sub(1).and_then(|before| sentence.word(before)), Some("i" | "i've"))
            && !matches!(sentence.word(word), Some("asked" | "told" | "tell") if is_to_user(sentence, word))
    })
}

/// "Alice prefers …", "… he likes Lego | and anything with trains": what somebody other than the user wants.
pub(super) fn is_anothers(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_told = matches!(
        sentence.word(at + 1),
        Some("prefers" | "likes" | "loves" | "hates" | "wants" | "dislikes" | "says" | "said" | "told")
    );
    (is_told && !matches!(sentence.word(at), Some("user")))
        || (!may_instruct(sentence, at) && another_likes(sentence, at).is_some_and(|likes| likes != at))
}

/// "Anna turns nine, she likes Lego": whether it only tells what somebody other than the user likes.
pub(super) fn tells_of_another(sentence: &Sentence<'_>, (start, end): Tokens) -> bool {
    let is_piece = |at: &usize| {
        *at == start
            || sentence.mark(at - 1) == Some(",")
            || matches!(sentence.word(at - 1), Some("so" | "and" | "but"))
    };
    another_likes(sentence, end).is_some_and(|likes| likes > start)
        && !(start..end).filter(is_piece).any(|at| may_instruct(sentence, at))
}

/// Where, in the same stretch before a token, somebody other than the user is said to like something.
fn another_likes(sentence: &Sentence<'_>, end: usize) -> Option<usize> {
    let end = (0..end).rev().find(|at| sentence.word(*at).is_some())?;
    let parts = |at: &usize| {
        matches!(sentence.mark(*at), Some("." | ";" | ":" | "!" | "?" | "—" | "–"))
            || matches!(
                sentence.word(*at),
                Some("i" | "i'd" | "i'm" | "we" | "you" | "my" | "user" | "user's")
            )
    };
    let from = (0..end).rev().find(parts).map_or(0, |before| before + 1);
    let names_user = (0..from).any(|at| sentence.word(at) == Some("user"));
    let likes = |at: &usize| {
        let is_who = matches!(sentence.word(*at), Some("he" | "she" | "they")) || sentence.is_name(*at);
        let verb = sentence.word(at + 1);
        is_who
            && matches!(
                verb,
                Some(
                    "prefers"
                        | "likes"
                        | "loves"
                        | "hates"
                        | "dislikes"
                        | "enjoys"
                        | "adores"
                        | "like"
                        | "love"
                        | "hate"
                )
            )
    };
    (from..end).find(likes).filter(|_| !names_user)
}

/// Whether what begins here may ask for something by itself.
fn may_instruct(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_asking = |word: &str| {
        list("verbs").has(word)
            || matches!(
                word,
                "always"
                    | "never"
                    | "don't"
                    | "dont"
                    | "no"
                    | "not"
                    | "only"
                    | "please"
                    | "avoid"
                    | "stop"
                    | "when"
                    | "if"
            )
    };
    sentence.word(at).is_some_and(is_asking) || list("standing").at(sentence, at, sentence.len()) > 0
}

/// So many digits one behind the other are a number that somebody is called by.
const CALLED_DIGITS: usize = 8;

/// "Gareth Pendlebury, 07700 900417": how somebody is reached, and nothing that is wanted.
pub(super) fn is_contact(sentence: &Sentence<'_>, (start, end): Tokens) -> bool {
    let is_dialled = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'/' | b'.');
    let (mut digits, mut most) = (0, 0);
    for at in start..end {
        match (sentence.word(at), sentence.mark(at)) {
            // "2026-01-31" is a date.
            (Some(word), _) if word.bytes().all(is_dialled) && word.matches(['-', '.', '/']).count() != 2 => {
                digits += word.bytes().filter(u8::is_ascii_digit).count();
            }
            (None, Some("+" | "(" | ")" | "-")) => {}
            _ => digits = 0,
        }
        most = most.max(digits);
    }
    let says_more = may_instruct(sentence, start)
        || (start..end).any(|at| {
            matches!(
                sentence.word(at),
                Some(
                    "i" | "i'm"
                        | "we"
                        | "my"
                        | "user"
                        | "prefer"
                        | "prefers"
                        | "you"
                        | "never"
                        | "always"
                        | "only"
                        | "don't"
                )
            )
        });
    most >= CALLED_DIGITS && !says_more
}

/// "The user asked …", "please tell …".
fn is_to_user(sentence: &Sentence<'_>, verb: usize) -> bool {
    verb > 0 && sentence.word(verb - 1) == Some("user")
}

/// "I can gather my thoughts and be ready for any question", "… early, then prepare for every meeting": the verb has the subject before it.
pub(super) fn goes_on(sentence: &Sentence<'_>, start: usize) -> bool {
    let joins = |at: &usize| matches!(sentence.word(*at), Some("and" | "then"));
    let Some(and) = start.checked_sub(1).filter(joins).or(Some(start).filter(joins)) else { return false };
    let border = |at: &usize| matches!(sentence.mark(*at), Some("." | ";" | ":" | "!" | "?" | "—" | "–"));
    let from = (0..and).rev().find(border).map_or(0, |at| at + 1);
    let is_said =
        |words: &[&str]| (from..and).any(|at| sentence.word(at).is_some_and(|word| words.contains(&word)));
    let has_subject = (from..and).any(|at| {
        let is_one = matches!(sentence.word(at), Some("i" | "we" | "they" | "he" | "she"));
        is_one
            && matches!(
                sentence.word(at + 1),
                Some("can" | "could" | "will" | "would" | "might" | "may" | "should")
            )
    });
    (has_subject || is_said(&["i'll", "we'll", "i'd", "we'd"])) && !is_said(&["you", "please"])
}

/// "For gifts to Oma: …" is said of gifts; "for example: …" is said of nothing.
fn is_topic(sentence: &Sentence<'_>, at: usize) -> bool {
    const OF_NOTHING: [&str; 14] = [
        "example",
        "instance",
        "context",
        "reference",
        "now",
        "short",
        "summary",
        "general",
        "fact",
        "particular",
        "addition",
        "other",
        "conclusion",
        "background",
    ];
    at == 0
        && matches!(sentence.word(0), Some("for" | "in" | "on" | "with"))
        && !sentence.word(1).is_some_and(|word| OF_NOTHING.contains(&word))
}
