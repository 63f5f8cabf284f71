//! What somebody says that they prefer, like, avoid, are or always do.

use super::clauses::{self, Statement, is_reported};
use super::conditions;
use super::house;
use super::moment;
use super::sentence::Sentence;
use super::speakers::Voice;
use super::words::list;

/// How many words may stand between who prefers and the verb.
const BETWEEN_MAX: usize = 5;

/// Who prefers, and what stands between that and the verb.
struct Subject {
    at: usize,
    /// The verb is denied.
    is_negative: bool,
    /// "always", "never", "only": it is a habit.
    is_habit: bool,
    /// "I'd": what somebody would like is mostly asked for now.
    is_would: bool,
    /// An agent writes it about the user.
    is_third: bool,
}

pub(super) fn wishes(sentence: &Sentence<'_>, voice: Voice) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    for at in 0..sentence.len() {
        if found.last().is_some_and(|last| at < last.tokens.1) {
            continue;
        }
        let wish = stated(sentence, at, voice)
            .or_else(|| favourite(sentence, at))
            .or_else(|| suits(sentence, at))
            .or_else(|| asked_by_user(sentence, at, voice))
            .or_else(|| told_by_user(sentence, at, voice))
            .or_else(|| house::where_we_work(sentence, at));
        found.extend(wish);
    }
    found
}

/// A verb of preferring with its subject.
fn stated(sentence: &Sentence<'_>, at: usize, voice: Voice) -> Option<Statement> {
    let word = sentence.word(at)?;
    let (base, is_third) = base_of(word);
    let kind = kind_of(sentence, at, &base)?;
    let subject = subject(sentence, at, kind)?;
    let is_agents = is_third || subject.is_third;
    if (is_third && !subject.is_third) || (is_agents && voice == Voice::User) {
        return None;
    }
    if is_open(sentence, subject.at) || sentence.is_quoted(at) || is_reported(sentence, subject.at) {
        return None;
    }
    // "…, forget what I said" is of another wish.
    let forgets = |at: &usize| sentence.mark(*at) == Some(",") && sentence.word(at + 1) == Some("forget");
    let end = clauses::end_of(sentence, at);
    let end = (at..end).find(forgets).unwrap_or(end);
    if !is_lasting(sentence, at, end, kind, &subject, voice) {
        return None;
    }
    Some(with_condition(sentence, subject.at, at, end))
}

/// The statement from its subject on, with the condition before or behind it.
fn with_condition(sentence: &Sentence<'_>, subject: usize, verb: usize, end: usize) -> Statement {
    let before = conditions::leading_condition(sentence, 0).filter(|(_, comma)| {
        (comma + 1..subject).all(|at| sentence.word(at).is_none_or(|word| list("lead-in").has(word)))
            && *comma < subject
            && (conditions::recurs(sentence, (0, *comma)) || is_setting(sentence, *comma))
    });
    let start = before.map_or(subject, |(start, _)| start);
    // "I like it when you …" says what is liked, not when.
    let from = if is_about_you(sentence, verb + 1) { verb + 2 } else { verb };
    let condition = before.or_else(|| conditions::trailing_condition(sentence, from, end));
    Statement::new((start, end), condition)
}

/// "For workouts, …".
fn is_setting(sentence: &Sentence<'_>, comma: usize) -> bool {
    matches!(sentence.word(0), Some("for" | "in" | "on"))
        && !matches!(sentence.word(1), Some("the" | "a" | "an"))
        && !list("passing").within(sentence, 0, comma)
        && list("standing").at(sentence, 0, comma) == 0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Prefer,
    Like,
    Habit,
    /// "I want short answers".
    Want,
    Is,
    Fan,
    Rather,
}

/// The base of a verb, and whether it is of the third person.
fn base_of(word: &str) -> (String, bool) {
    for name in ["prefer", "like", "habit"] {
        if list(name).has(word) {
            return (word.to_owned(), false);
        }
        if let Some(base) = word.strip_suffix('s').filter(|base| list(name).has(base)) {
            return (base.to_owned(), true);
        }
    }
    (word.to_owned(), false)
}

fn kind_of(sentence: &Sentence<'_>, at: usize, base: &str) -> Option<Kind> {
    let end = sentence.len();
    Some(match base {
        _ if list("prefer").has(base) => Kind::Prefer,
        _ if list("like").has(base) => Kind::Like,
        "want" | "need" => Kind::Want,
        "fan" if sentence.word(at + 1) == Some("of") => Kind::Fan,
        "rather" if sentence.word(at + 1) != Some("than") => Kind::Rather,
        _ if list("habit").at(sentence, at, end) > 0 || list("habit").has(base) => Kind::Habit,
        _ if list("diet").at(sentence, at, end) > 0 => Kind::Is,
        _ => return None,
    })
}

/// Looks back from the verb over adverbs.
fn subject(sentence: &Sentence<'_>, verb: usize, kind: Kind) -> Option<Subject> {
    let mut found = Subject { at: 0, is_negative: false, is_habit: false, is_would: false, is_third: false };
    for at in (verb.saturating_sub(BETWEEN_MAX + 1)..verb).rev() {
        let word = sentence.word(at)?;
        found.at = at;
        match word {
            "i" | "we" => {
                return (!matches!(kind, Kind::Is | Kind::Fan) || sentence.word(at + 1) == Some("am"))
                    .then_some(found);
            }
            "i'd" | "we'd" => {
                found.is_would = true;
                return (!matches!(kind, Kind::Is | Kind::Fan)).then_some(found);
            }
            "i'm" | "we're" => return matches!(kind, Kind::Is | Kind::Fan).then_some(found),
            "user" | "user's" => {
                found.is_third = true;
                if at > 0 && sentence.word(at - 1) == Some("the") {
                    found.at = at - 1;
                }
                return Some(found);
            }
            "would" => found.is_would = true,
            "don't" | "doesn't" | "not" | "can't" | "cannot" => found.is_negative = true,
            "never" | "rarely" | "longer" => (found.is_negative, found.is_habit) = (true, true),
            "always" | "only" | "usually" | "normally" | "typically" | "mostly" | "generally" => {
                found.is_habit = true;
            }
            "am" | "is" | "a" | "an" | "both" | "strictly" | "big" | "huge" | "great"
                if matches!(kind, Kind::Is | Kind::Fan) => {}
            "tend" | "to" | "try" | "kind" | "sort" | "of" | "no" | "do" | "very" | "does" | "much" => {}
            "can" if sentence.word(at + 1) == Some("not") => {}
            _ if list("adverb").has(word) => {}
            _ => return None,
        }
    }
    None
}

/// Whether it is asked, or left open, whether somebody prefers.
fn is_open(sentence: &Sentence<'_>, subject: usize) -> bool {
    let Some(before) = subject.checked_sub(1) else { return false };
    if let Some(word) = sentence.word(before)
        && list("open").has(word)
    {
        let said = before.checked_sub(1).and_then(|at| sentence.word(at));
        let is_told = matches!(said, Some("note" | "remember" | "mind" | "know" | "aware" | "forget"));
        if word != "that" || !is_told {
            return true;
        }
    }
    let opens = sentence.word(0).is_some_and(|word| list("open").has(word));
    let is_one_clause = !(0..subject).any(|at| sentence.mark(at).is_some());
    opens && is_one_clause && sentence.is_question()
}

fn is_lasting(
    sentence: &Sentence<'_>,
    verb: usize,
    end: usize,
    kind: Kind,
    subject: &Subject,
    voice: Voice,
) -> bool {
    let Some(next) = sentence.word(verb + 1).filter(|_| verb + 1 < end) else {
        return kind == Kind::Is;
    };
    let object_end = object_end(sentence, verb + 1, end);
    let is_you = is_about_you(sentence, verb + 1);
    let passes = list("passing").within(sentence, verb + 1, object_end) && !is_you;
    let is_this = list("this object").has(next) && !is_you;
    let answers = list("answers").within(sentence, verb, end) || list("style").within(sentence, verb, end);
    match kind {
        Kind::Prefer => !passes && next != "or",
        Kind::Rather => {
            let compares = (verb..end).any(|at| sentence.word(at) == Some("than"));
            !passes && (is_you || list("verbs").has(next) || next == "not" || compares)
        }
        Kind::Is => true,
        Kind::Fan => sentence.word(verb + 2).is_some_and(|of| !list("this object").has(of)) && !passes,
        Kind::Like => {
            let is_you = is_you && next != "you";
            likes(sentence, verb, subject, voice, answers, is_you, is_this || passes || next == "you")
        }
        Kind::Habit => habit(sentence, verb, subject, next, passes),
        Kind::Want => {
            let is_all = matches!(next, "all" | "every" | "each");
            let is_some = !is_this || is_all || next == "to";
            let is_seeing = matches!(sentence.word(verb + 2), Some("see" | "have" | "get" | "know" | "be"));
            let stays = subject.is_habit || list("standing").within(sentence, 0, subject.at);
            let is_wish = (answers && next != "to") || (stays && (next != "to" || is_seeing));
            // "I would like summaries to be short."
            let is_how = answers && (verb..end).any(|at| sentence.word(at) == Some("be"));
            let is_kept = is_some && !passes && is_wish && !moment::needs_and_does(sentence, subject.at);
            is_kept && (!subject.is_would || is_how)
        }
    }
}

/// What is preferred, without why.
fn object_end(sentence: &Sentence<'_>, from: usize, end: usize) -> usize {
    let ends = |at: &usize| {
        sentence.mark(*at) == Some(",")
            || (sentence.word(*at) == Some("and") && matches!(sentence.word(at + 1), Some("i" | "we" | "it")))
            || matches!(sentence.word(*at), Some("because" | "since" | "as" | "when" | "if" | "so" | "but"))
    };
    (from..end).find(ends).unwrap_or(end)
}

/// "that you …", "it when you …", "if you …".
fn is_about_you(sentence: &Sentence<'_>, at: usize) -> bool {
    let word = |n: usize| sentence.word(at + n);
    match word(0) {
        Some("you") => true,
        Some("that" | "if" | "when") => word(1) == Some("you") || word(1) == Some("your"),
        Some("it") => matches!(word(1), Some("if" | "when" | "that")),
        _ => false,
    }
}

fn likes(
    sentence: &Sentence<'_>,
    verb: usize,
    subject: &Subject,
    voice: Voice,
    answers: bool,
    is_you: bool,
    is_this: bool,
) -> bool {
    let word = sentence.word(verb).unwrap_or_default();
    if word.starts_with("mind") {
        return false;
    }
    let compares = ["over", "rather", "than"]
        .iter()
        .any(|than| (verb..clauses::end_of(sentence, verb)).any(|at| sentence.word(at) == Some(than)));
    let is_this = is_this && !(compares && sentence.word(verb + 1) == Some("my"));
    let is_this = is_this && !(subject.is_third && names_kind(sentence, verb + 1));
    if subject.is_would || (is_this && !is_you) || (word.starts_with("stand") && !subject.is_negative) {
        return false;
    }
    let base = word.trim_end_matches('s');
    let dislikes = subject.is_negative || list("dislike").has(word) || list("dislike").has(base);
    is_you || dislikes || answers || compares || subject.is_third || voice == Voice::Preference
}

/// "The window seat": all of what is liked, and of more than one occasion, not "the new logo".
fn names_kind(sentence: &Sentence<'_>, the: usize) -> bool {
    let end = (the..sentence.len()).find(|at| sentence.mark(*at).is_some()).unwrap_or(sentence.len());
    sentence.word(the) == Some("the")
        && end == the + 3
        && !list("passing").within(sentence, the, end)
        && !list("at hand").within(sentence, the + 1, end)
}

fn habit(sentence: &Sentence<'_>, verb: usize, subject: &Subject, next: &str, passes: bool) -> bool {
    let word = sentence.word(verb).unwrap_or_default();
    if passes || subject.is_would {
        return false;
    }
    let is_avoiding = word.starts_with("avoid");
    let denies = subject.is_negative
        && matches!(word, "eat" | "drink" | "wear" | "fly" | "use" | "watch")
        && next != "to";
    // "I drink coffee in the evening again."
    let takes_up = matches!(word, "eat" | "drink" | "wear" | "use")
        && (verb..clauses::end_of(sentence, verb)).any(|at| sentence.word(at) == Some("again"));
    is_avoiding || subject.is_habit || denies || takes_up || (subject.is_third && word != "use")
}

/// "My preferred editor is …", "my preference is for …".
fn favourite(sentence: &Sentence<'_>, at: usize) -> Option<Statement> {
    if !matches!(sentence.word(at)?, "my" | "our" | "user's") {
        return None;
    }
    let is_favourite = list("favourite").has(sentence.word(at + 1)?);
    let noun = sentence.word(at + 2)?;
    let end = clauses::end_of(sentence, at);
    let is_said = (at + 2..end.min(at + 8)).any(|at| matches!(sentence.word(at), Some("is" | "are")));
    let is_kept = is_favourite
        && is_said
        && !list("not taken").has(noun)
        && !list("passing").within(sentence, at, end)
        && !is_open(sentence, at)
        && !is_reported(sentence, at)
        && !sentence.is_quoted(at);
    is_kept.then(|| with_condition(sentence, at, at + 1, end))
}

/// "Mornings work best for me."
fn suits(sentence: &Sentence<'_>, at: usize) -> Option<Statement> {
    if list("suits").at(sentence, at, sentence.len()) == 0 || sentence.is_question() {
        return None;
    }
    let start = clauses::start_of(sentence, at);
    let start = start + list("lead-in").at(sentence, start, at);
    let end = clauses::end_of(sentence, at);
    let is_kept = start < at && !list("passing").within(sentence, start, end) && !is_reported(sentence, at);
    is_kept.then(|| with_condition(sentence, start, at, end))
}

/// "The user asked to never …", "the user wants …", in the words of an agent.
fn asked_by_user(sentence: &Sentence<'_>, at: usize, voice: Voice) -> Option<Statement> {
    if voice == Voice::User || sentence.word(at) != Some("user") {
        return None;
    }
    let start = if at > 0 && sentence.word(at - 1) == Some("the") { at - 1 } else { at };
    let end = clauses::end_of(sentence, at);
    let mut verb = at + 1;
    let is_always = matches!(sentence.word(verb), Some("always" | "never"));
    verb += usize::from(is_always);
    let is_denied = matches!(sentence.word(verb), Some("doesn't" | "does"));
    while matches!(sentence.word(verb), Some("doesn't" | "does" | "not" | "also" | "really" | "has")) {
        verb += 1;
    }
    let asks = matches!(sentence.word(verb), Some("asked" | "requested" | "instructed" | "asks" | "insists"))
        && matches!(
            sentence.word(verb + 1),
            Some("to" | "not" | "that" | "never" | "me" | "us" | "for" | "always")
        );
    // "On the first Thursday of the month."
    let recurs = list("recurs in time").within(sentence, verb + 2, end);
    let lasts = is_always
        || is_denied
        || list("answers").within(sentence, verb, end)
        || list("style").within(sentence, verb, end)
        || (verb..end).any(|at| matches!(sentence.word(at), Some("always" | "never")))
        || recurs
        || list("standing").within(sentence, verb, end);
    let wants = matches!(sentence.word(verb), Some("wants" | "want" | "needs" | "expects"));
    let is_kept =
        (asks || wants || (is_always && list("verbs").has(sentence.word(verb)?.trim_end_matches('s'))))
            && lasts
            && (recurs || !list("passing").within(sentence, verb + 2, end))
            && !sentence.is_question();
    is_kept.then(|| with_condition(sentence, start, verb, end))
}

/// "User told me that he wants …", in the words of an agent.
fn told_by_user(sentence: &Sentence<'_>, at: usize, voice: Voice) -> Option<Statement> {
    let tells = matches!(sentence.word(at + 1), Some("told" | "said" | "mentioned" | "says"));
    if voice == Voice::User || sentence.word(at) != Some("user") || !tells || sentence.is_question() {
        return None;
    }
    let end = clauses::end_of(sentence, at);
    let wish = (at + 2..(at + 7).min(end)).find(|at| {
        matches!(sentence.word(*at), Some("he" | "she" | "they" | "to"))
            && matches!(
                sentence.word(at + 1),
                Some(
                    "prefers"
                        | "prefer"
                        | "wants"
                        | "want"
                        | "likes"
                        | "hates"
                        | "dislikes"
                        | "always"
                        | "never"
                )
            )
    })?;
    let start = if at > 0 && sentence.word(at - 1) == Some("the") { at - 1 } else { at };
    // "He wants to go home" is of now.
    let is_of_now = sentence.word(wish + 1).is_some_and(|verb| verb.starts_with("want"))
        && sentence.word(wish + 2) == Some("to");
    let passes = is_of_now || list("passing").within(sentence, wish + 2, end);
    (!passes && wish + 2 < end).then(|| with_condition(sentence, start, wish, end))
}
