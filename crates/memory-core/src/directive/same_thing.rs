//! Whether two directives are about the same thing, and whether the later takes the place of the earlier.

use std::collections::BTreeSet;

use memory_language::lexicon::{english_stem, is_function_word};

use super::ended::ended;
use super::kinds::are_of_one_kind;
use super::sentence::Sentence;
use super::tokens::Token;
use super::words::{GROUPS, list};

/// Of two sets of words, the smaller must have this share of its words in the other to be about the same thing.
const SAME_SHARE: f32 = 0.6;
/// The same of all their words, for two that say the same.
const ALIKE_SHARE: f32 = 0.75;
const ARTICLES: [&str; 9] = ["a", "an", "the", "my", "our", "all", "any", "every", "this"];
/// Words that say how something is wanted, not what.
const WANTING: [&str; 50] = [
    "always", "never", "please", "prefer", "prefers", "like", "likes", "love", "hate", "want", "wants",
    "use", "using", "used", "avoid", "stop", "don't", "doesn't", "not", "no", "keep", "make", "sure", "now",
    "actually", "again", "anymore", "fine", "okay", "ok", "allowed", "you", "your", "user", "let", "really",
    "usually", "much", "also", "only", "future", "longer", "need", "needs", "i'd", "i'm", "can't", "dislike",
    "give", "instead",
];

/// What a directive says, in words that can be compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gist {
    is_negative: bool,
    is_permission: bool,
    /// It says that something has changed.
    is_change: bool,
    /// Stems of what is wanted, or not wanted.
    about: BTreeSet<String>,
    /// Stems of what is set against it: "never npm" of "use yarn, never npm".
    unwanted: BTreeSet<String>,
    /// Stems of each thing that is said to be over.
    ended: Vec<BTreeSet<String>>,
    /// The one thing that is to be used for a purpose: "Jest" of "use Jest for unit tests".
    used: Option<String>,
    /// Stems of what is wanted less: "over coffee", "rather than coffee".
    less: BTreeSet<String>,
    /// Members of groups of which one holds at a time.
    members: Vec<(usize, usize)>,
    /// Up to what is filled in: "format dates in", "my favourite author is", "call me".
    frame: Option<BTreeSet<String>>,
    /// Stems of what it is for: "in Go code", "on Mondays".
    scope: BTreeSet<String>,
    /// "200" of "under 200 words".
    numbers: BTreeSet<String>,
    condition: BTreeSet<String>,
}

impl Gist {
    pub fn new(quote: &str, condition: Option<&str>, is_permission: bool) -> Self {
        let condition = condition.unwrap_or_default();
        let statement = quote.replacen(condition, " ", usize::from(!condition.is_empty()));
        let sentence = Sentence::new(&statement, 0..statement.len());
        let end = sentence.len();
        let less_at = (0..end).find(|at| is_less(&sentence, *at)).unwrap_or(end);
        let wanted_end = (0..less_at).find(|at| is_contrast(&sentence, *at)).unwrap_or(less_at);
        let words = |from: usize, to: usize| (from..to).filter_map(|at| sentence.word(at));
        let is_negative = words(0, wanted_end.min(6)).any(is_denial);
        let is_scope = |at: &usize| matches!(sentence.word(*at), Some("in" | "on" | "for" | "at" | "during"));
        let scope_at = (1..less_at).rfind(is_scope).unwrap_or(less_at);
        let is_answer = |word: &&str| list("answers").has(word);
        let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
        let frame_end = (1..less_at).find(|at| fills_in(&sentence, *at));
        // "Short" and "long" are said of what is wanted, though they say little elsewhere.
        let frame = |at: usize| -> BTreeSet<String> {
            let members = words(0, at).filter(|word| is_member(word)).map(str::to_owned);
            stems_of(&sentence, 0, at).into_iter().chain(members).collect()
        };
        let frame = frame_end.map(frame).filter(|frame| !frame.is_empty());
        let condition_read = Sentence::new(condition, 0..condition.len());
        Self {
            is_negative: is_negative && !is_permission,
            is_permission,
            // "… for all frontend tests now".
            is_change: list("changed").within(&sentence, 0, end)
                || condition.split_whitespace().next_back() == Some("now"),
            about: stems_of(&sentence, 0, wanted_end),
            unwanted: stems_of(&sentence, wanted_end, less_at),
            ended: ended(&sentence, end)
                .into_iter()
                .map(|(from, to)| what_ended(&sentence, from, to))
                .collect(),
            used: (0..less_at).find_map(|at| used(&sentence, at)),
            less: stems_of(&sentence, less_at, end),
            members: members(words(0, wanted_end)),
            frame,
            scope: words((scope_at + 1).min(less_at), less_at)
                .filter(|word| !is_answer(word) && !WANTING.contains(word) && !ARTICLES.contains(word))
                .map(english_stem)
                .collect(),
            numbers: words(0, end).filter(is_number).map(str::to_owned).collect(),
            condition: stems_of(&condition_read, 0, condition_read.len()),
        }
    }

    /// Whether this, which is later, takes the place of an earlier one.
    pub fn replaces(&self, earlier: &Self) -> bool {
        if !self.condition.is_empty() && !is_mostly(&self.condition, &earlier.condition) {
            return false;
        }
        // The condition of the earlier one says of what it is, too.
        let about_earlier: BTreeSet<String> = earlier.about.union(&earlier.condition).cloned().collect();
        let is_same_thing = is_mostly(&self.about, &about_earlier);
        let is_against = self.is_negative != earlier.is_negative || self.is_permission;
        if earlier.is_permission {
            return is_same_thing && !self.is_permission;
        }
        let turned = meets(&self.about, &earlier.less)
            && (meets(&self.less, &earlier.about) || self.is_change || self.less.is_empty());
        let dropped = meets(&self.less, &earlier.about) && self.is_change;
        let is_elsewhere = self.is_for_more(earlier) && earlier.is_for_more(self);
        turned
            || dropped
            || self.ends(earlier)
            || self.sets_against(earlier)
            || self.swaps(earlier)
            || (is_against && is_same_thing && !is_elsewhere)
            || (self.is_other_member(earlier) && !is_elsewhere)
            || self.refills(earlier)
            || self.counts_otherwise(earlier)
    }

    /// It says that what the earlier one wants is over, or that its rule is.
    fn ends(&self, earlier: &Self) -> bool {
        let all: BTreeSet<String> = earlier.about.union(&earlier.condition).cloned().collect();
        let wants = |ended: &BTreeSet<String>| {
            is_mostly_in(ended, &all) && (!earlier.is_negative || self.is_permission)
        };
        self.ended.iter().any(wants)
    }

    /// What one wants is what the other sets against what it wants: "use npm" and "use yarn, never npm".
    fn sets_against(&self, earlier: &Self) -> bool {
        let is_so = |one: &Self, other: &Self| {
            let all: BTreeSet<String> = other.about.union(&other.unwanted).cloned().collect();
            !one.is_negative && is_mostly_in(&other.unwanted, &one.about) && is_mostly_in(&one.about, &all)
        };
        is_so(self, earlier) || is_so(earlier, self)
    }

    /// It names something else of the same kind, or for the same purpose, and says that this is so now.
    fn swaps(&self, earlier: &Self) -> bool {
        let is_wanted = self.is_change && !self.is_negative && !earlier.is_negative && !self.is_permission;
        if !is_wanted || self.condition != earlier.condition {
            return false;
        }
        let mut new = self.about.difference(&earlier.about);
        let mut old = earlier.about.difference(&self.about);
        let (Some(new), Some(old), None, None) = (new.next(), old.next(), new.next(), old.next()) else {
            return false;
        };
        let has_purpose = !self.scope.is_empty() || !self.condition.is_empty();
        let for_the_same = has_purpose
            && self.scope == earlier.scope
            && self.used.as_ref() == Some(new)
            && earlier.used.as_ref() == Some(old);
        for_the_same || are_of_one_kind(new, old)
    }

    /// Whether it is for something that the other is not for, beside the members of groups that both have.
    fn is_for_more(&self, other: &Self) -> bool {
        let is_shared = |group: usize| other.members.iter().any(|(of, _)| *of == group);
        let is_compared = |word: &str| {
            GROUPS.iter().enumerate().any(|(n, group)| is_shared(n) && group.member(word).is_some())
        };
        self.scope.difference(&other.scope).any(|word| !is_compared(word))
    }

    /// The same but for its numbers: "under 200 words", "under 100 words".
    fn counts_otherwise(&self, earlier: &Self) -> bool {
        let rest = |gist: &Self| gist.about.difference(&gist.numbers).cloned().collect::<BTreeSet<_>>();
        self.numbers != earlier.numbers
            && !self.numbers.is_empty()
            && !earlier.numbers.is_empty()
            && self.is_negative == earlier.is_negative
            && self.condition == earlier.condition
            && rest(self) == rest(earlier)
    }

    /// Another of the things of which one holds at a time.
    fn is_other_member(&self, earlier: &Self) -> bool {
        let is_against = self.is_negative != earlier.is_negative;
        self.members.iter().any(|(group, member)| {
            earlier.members.iter().any(|(other_group, other)| {
                let excludes = group == other_group && (member != other) != is_against;
                excludes && (GROUPS[*group].is_enough || self.shares_the_rest(earlier))
            })
        })
    }

    /// Whether what is said beside the members of groups has a word in common.
    fn shares_the_rest(&self, earlier: &Self) -> bool {
        let is_rest = |stem: &&String| !is_member(stem);
        self.about.intersection(&earlier.about).any(|stem| is_rest(&stem))
    }

    /// The same blank, filled in otherwise.
    fn refills(&self, earlier: &Self) -> bool {
        let (Some(frame), Some(before)) = (&self.frame, &earlier.frame) else { return false };
        // Several things may be unwanted: "never suggest restaurants with loud music".
        frame == before
            && !self.is_negative
            && !earlier.is_negative
            && self.condition == earlier.condition
            && self.about != earlier.about
    }

    /// Whether both say the same, on the same condition.
    pub fn repeats(&self, other: &Self) -> bool {
        let common = self.about.intersection(&other.about).count() as f32;
        let all = self.about.union(&other.about).count() as f32;
        self.is_negative == other.is_negative
            && self.is_permission == other.is_permission
            && common >= ALIKE_SHARE * all
            && (self.condition == other.condition || is_mostly(&self.condition, &other.condition))
            && self.members == other.members
    }
}

/// A comma behind which stands what is not wanted: "use yarn here, never npm". A setting before it is none: "in Go, never …".
fn is_contrast(sentence: &Sentence<'_>, comma: usize) -> bool {
    let is_setting = matches!(
        sentence.word(0),
        Some(
            "in" | "for"
                | "on"
                | "with"
                | "at"
                | "when"
                | "if"
                | "during"
                | "after"
                | "before"
                | "as"
                | "please"
        )
    );
    comma > 1
        && sentence.mark(comma) == Some(",")
        && matches!(sentence.word(comma + 1), Some("never" | "not"))
        && !is_setting
        && !(0..comma).any(|at| sentence.word(at).is_some_and(is_denial))
        && !stems_of(sentence, 0, comma).is_empty()
}

/// The name right behind "use" that a purpose follows, or nothing where the purpose is the condition.
fn used(sentence: &Sentence<'_>, at: usize) -> Option<String> {
    let is_use = matches!(sentence.word(at), Some("use" | "uses" | "using"));
    let is_for = at + 2 >= sentence.len() || matches!(sentence.word(at + 2), Some("for" | "in" | "on"));
    sentence.word(at + 1).filter(|_| is_use && is_for).map(english_stem)
}

/// What is over, without the words that only say that it was a rule.
fn what_ended(sentence: &Sentence<'_>, from: usize, to: usize) -> BTreeSet<String> {
    let says_little = ["rule", "polici", "policy", "requir", "requirement", "ban", "more", "longer", "run"];
    stems_of(sentence, from, to).into_iter().filter(|stem| !says_little.contains(&stem.as_str())).collect()
}

fn is_less(sentence: &Sentence<'_>, at: usize) -> bool {
    match sentence.word(at) {
        Some("over" | "than" | "rather") => at > 0,
        Some("instead") => sentence.word(at + 1) == Some("of"),
        Some("to") => sentence.word(0).is_some() && is_comparing_to(sentence, at),
        _ => false,
    }
}

/// "I prefer trains to planes", not "I prefer to travel by train".
fn is_comparing_to(sentence: &Sentence<'_>, at: usize) -> bool {
    let prefers = (0..at).find(|at| sentence.word(*at).is_some_and(|word| word.starts_with("prefer")));
    prefers.is_some_and(|verb| verb + 1 < at)
        && sentence.word(at + 1).is_some_and(|word| !list("verbs").has(word))
}

fn is_denial(word: &str) -> bool {
    matches!(
        word,
        "never"
            | "don't"
            | "dont"
            | "not"
            | "stop"
            | "no"
            | "avoid"
            | "skip"
            | "omit"
            | "hate"
            | "dislike"
            | "dislikes"
            | "hates"
            | "avoids"
            | "doesn't"
            | "can't"
            | "cannot"
            | "rarely"
            | "without"
            | "refrain"
    )
}

/// Whether what follows fills in a blank.
fn fills_in(sentence: &Sentence<'_>, at: usize) -> bool {
    match sentence.word(at) {
        Some("in" | "as" | "with" | "is" | "are") => true,
        // "Call me Kit", not "call me on Mondays".
        Some("me") => {
            matches!(sentence.word(at - 1), Some("call" | "address"))
                && !sentence.word(at + 1).is_some_and(is_function_word)
        }
        _ => false,
    }
}

/// The stems of some tokens. Code and words with a hyphen say what their parts say.
fn stems_of(sentence: &Sentence<'_>, from: usize, to: usize) -> BTreeSet<String> {
    let words = sentence.tokens.iter().take(to).skip(from).flat_map(Token::words);
    stems(words.flat_map(|word| {
        let is_compound =
            !is_member(word) && word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\''));
        word.split(move |c: char| is_compound && c == '-')
    }))
}

fn stems<'a>(words: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    words
        .filter(|word| !is_function_word(word) && !WANTING.contains(word) && word.len() > 1)
        .map(english_stem)
        .collect()
}

fn members<'a>(words: impl Iterator<Item = &'a str>) -> Vec<(usize, usize)> {
    let of = |word: &str| {
        let in_group = |(n, group): (usize, &super::words::Group)| Some((n, group.member(word)?));
        GROUPS.iter().enumerate().filter_map(in_group).collect::<Vec<_>>()
    };
    let mut members: Vec<(usize, usize)> = words.flat_map(of).collect();
    members.sort_unstable();
    members.dedup();
    members
}

fn is_member(word: &str) -> bool {
    GROUPS.iter().any(|group| group.member(word).is_some())
}

fn meets(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    !one.is_disjoint(other)
}

/// Whether most of one is in the other.
fn is_mostly_in(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    !one.is_empty() && one.intersection(other).count() as f32 >= SAME_SHARE * one.len() as f32
}

/// Whether the smaller set is for the most part in the other.
fn is_mostly(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let least = one.len().min(other.len());
    least > 0 && one.intersection(other).count() as f32 >= SAME_SHARE * least as f32
}
