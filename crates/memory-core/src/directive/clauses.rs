//! Clauses: where one may begin, where it ends, and whose words it has.

use super::sentence::Sentence;
use super::words::list;

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
    let is_his = matches!(sentence.word(at), Some("he" | "she"))
        && matches!(sentence.word(at + 1), Some("doesn't" | "minds"));
    (is_told && !matches!(sentence.word(at), Some("user")))
        || is_his
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
        let is_denied = matches!(sentence.word(at + 1), Some("doesn't" | "don't"));
        let verb = sentence.word(at + 1 + usize::from(is_denied));
        is_who
            && matches!(
                verb,
                Some(
                    "prefers"
                        | "wants"
                        | "minds"
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
pub(super) fn may_instruct(sentence: &Sentence<'_>, at: usize) -> bool {
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
