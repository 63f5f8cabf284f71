//! On what condition, or in which setting, a clause holds, and what only tells why.

use super::clauses::{Tokens, may_instruct, starts};
use super::sentence::Sentence;
use super::without_comma;
use super::words::list;

/// How many words a condition before its clause has at most, and a word like "in Python," before one.
const CONDITION_MAX: usize = 25;
const SETTING_MAX: usize = 7;
/// The same of what stands at the head of a sentence before a comma.
const HEAD_MAX: usize = 12;
/// The most words of "from now on" and the like before its last.
const STANDING_MAX: usize = 5;

/// A condition that stands before a clause, with its comma: "when I ask about prices, …", "in Python, …".
pub(super) fn leading_condition(sentence: &Sentence<'_>, at: usize) -> Option<Tokens> {
    let opener = list("condition").at(sentence, at, sentence.len());
    let is_condition = opener > 0 && list("standing").at(sentence, at, sentence.len()) <= opener;
    let is_setting =
        matches!(sentence.word(at), Some("in" | "for" | "on" | "with" | "at" | "until" | "till"));
    let reach = match (is_condition, is_setting) {
        (true, _) => CONDITION_MAX,
        (_, true) => SETTING_MAX,
        _ => return None,
    };
    let end = (at + reach).min(sentence.len());
    // Not one within brackets: "for docs use British spelling (colour, normalise)".
    let comma = (at + 1..end).find(|at| matches!(sentence.mark(*at), Some("," | ":" | ";" | "(")))?;
    if sentence.mark(comma) == Some("(") {
        return None;
    }
    // "When I ask for a summary give me five bullets, and dates as ISO".
    if let Some(whole) =
        without_comma::condition(sentence, at).filter(|(_, verb)| is_condition && *verb < comma)
    {
        return Some(whole);
    }
    let is_topic = || sentence.mark(comma) == Some(":") && is_topic(sentence, at);
    let goes_on = comma + 1 < sentence.len() && (sentence.mark(comma) == Some(",") || is_topic());
    (goes_on && comma > at + 1 && !names_no_setting(sentence, at, comma)).then_some((at, comma))
}

/// The condition that ends right before a clause: "If the build is red, | don't deploy", "When I'm tired | I prefer …".
pub(super) fn condition_before(sentence: &Sentence<'_>, start: usize) -> Option<Tokens> {
    let opens = |at: &usize| *at < start && list("condition").at(sentence, *at, start) > 0;
    let begin = starts(sentence).into_iter().rfind(opens)?;
    let comma = start.checked_sub(1).filter(|comma| matches!(sentence.mark(*comma), Some("," | ":")));
    let end = comma.unwrap_or(start);
    let is_whole = end > begin + 1 && end - begin <= CONDITION_MAX;
    (is_whole && (begin..end).all(|at| sentence.word(at).is_some())).then_some((begin, end))
}

/// The setting that a statement begins with: "in Go | I want table-driven tests".
pub(super) fn setting_within(sentence: &Sentence<'_>, (start, end): Tokens) -> Option<Tokens> {
    let behind = (start + 2)..end.min(start + SETTING_MAX + 2);
    behind.filter_map(|at| setting_before(sentence, at)).find(|(from, _)| *from == start)
}

/// The setting that stands right before a clause: "For the shop, | never deploy …", "In Go | I want table-driven tests".
pub(super) fn setting_before(sentence: &Sentence<'_>, start: usize) -> Option<Tokens> {
    let comma = start.checked_sub(1).filter(|at| sentence.mark(*at) == Some(","));
    let end = comma.unwrap_or(start);
    let parts =
        |at: &usize| !is_inside(sentence, *at) || matches!(sentence.word(*at), Some("and" | "but" | "so"));
    let mut begin = (0..end).rev().find(parts).map_or(0, |at| at + 1);
    while begin < end && list("lead-in").at(sentence, begin, end) > 0 {
        begin += list("lead-in").at(sentence, begin, end);
    }
    // "… is used, in Go, I want": what stands behind a comma may be of what was before.
    let is_head = begin == 0
        || !matches!(sentence.mark(begin - 1), Some(","))
        || (0..begin - 1).all(|at| sentence.word(at).is_some_and(|word| list("lead-in").has(word)));
    let says = |word: &str| {
        list("verbs").has(word)
            || matches!(word, "i" | "you" | "we" | "is" | "are" | "was" | "to" | "not" | "said" | "please")
    };
    let is_noun = |at: usize| {
        comma.is_some()
            && matches!(
                sentence.word(at - 1),
                Some("the" | "a" | "an" | "my" | "our" | "your" | "all" | "any" | "every" | "each" | "of")
            )
    };
    let is_plain = (begin + 2..end).all(|at| is_noun(at) || !sentence.word(at).is_some_and(says));
    let reach = if begin == 0 && comma.is_some() { HEAD_MAX } else { SETTING_MAX };
    let opens = matches!(
        sentence.word(begin),
        Some(
            "in" | "for"
                | "at"
                | "on"
                | "with"
                | "until"
                | "till"
                | "inside"
                | "outside"
                | "within"
                | "regarding"
                | "concerning"
        )
    );
    let is_subject = matches!(
        sentence.word(start),
        Some(
            "i" | "i'd"
                | "we"
                | "always"
                | "never"
                | "don't"
                | "dont"
                | "do"
                | "please"
                | "user"
                | "my"
                | "only"
                | "use"
        )
    );
    (opens
        && is_head
        && is_plain
        && (comma.is_some() || is_subject)
        && (begin + 2..=begin + reach).contains(&end)
        && !is_of_nothing(sentence, begin, end))
    .then_some((begin, end))
}

/// A word, or the last mark of a path: "scripts in tools/".
fn is_inside(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.word(at).is_some() || sentence.mark(at) == Some("/")
}

/// A condition that stands behind what holds on it: "… when I ask about prices", "… in my Python".
pub(super) fn trailing_condition(sentence: &Sentence<'_>, from: usize, end: usize) -> Option<Tokens> {
    let reason = reason(sentence, from, end);
    (from + 1..reason).find_map(|at| {
        let next = sentence.word(at + 1).filter(|_| at + 1 < end)?;
        let is_condition = list("condition").at(sentence, at, end) > 0
            && list("standing").at(sentence, at, end) == 0
            && !matches!(sentence.word(at), Some("once" | "while"))
            && !matches!(sentence.word(at - 1), Some("even" | "as" | "what"));
        let is_setting = matches!(sentence.word(at), Some("in" | "for" | "on"))
            && !is_in_standing(sentence, at, end)
            && ((matches!(next, "my" | "our") && !is_of_body(sentence, at) && !is_waited_for(sentence, at))
                || (matches!(next, "all" | "any" | "every")
                    && matches!(sentence.word(at + 2), Some(word) if word != "other" && !is_of_answers(word))));
        (is_condition || is_setting).then(|| {
            let is_over = |next: &usize| match sentence.mark(*next) {
                Some(":") => true,
                // "… when I mention a result, just put down what they said".
                Some(",") => may_instruct(sentence, *next + 1) || sentence.word(*next + 1) == Some("just"),
                _ => is_setting && goes_on_behind_setting(sentence, *next),
            };
            let without_comma = || without_comma::condition(sentence, at).map(|(_, verb)| verb);
            let over = (at + 1..reason).find(is_over).or_else(without_comma).filter(|over| *over < reason);
            (at, over.unwrap_or(reason))
        })
    })
}

/// "Whatever you come up with for our teas | has to work for her".
fn goes_on_behind_setting(sentence: &Sentence<'_>, at: usize) -> bool {
    matches!(
        sentence.word(at),
        Some(
            "has"
                | "have"
                | "is"
                | "are"
                | "must"
                | "should"
                | "needs"
                | "need"
                | "goes"
                | "gets"
                | "get"
                | "starts"
                | "stays"
                | "can"
                | "will"
        )
    )
}

/// The "on" of "from now on" opens no setting.
fn is_in_standing(sentence: &Sentence<'_>, at: usize, end: usize) -> bool {
    (at.saturating_sub(STANDING_MAX)..at).any(|from| from + list("standing").at(sentence, from, end) > at)
}

/// "For my teeth": for what, and not where.
fn is_of_body(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.word(at) == Some("for") && sentence.word(at + 2).is_some_and(|word| list("body").has(word))
}

/// "Wait for my ok": for what, and not where.
fn is_waited_for(sentence: &Sentence<'_>, at: usize) -> bool {
    matches!(sentence.word(at - 1), Some("wait" | "waits" | "ask" | "asks" | "look" | "check"))
}

/// "in all your answers", "in every reply": that is always.
fn is_of_answers(word: &str) -> bool {
    matches!(word, "your" | "answer" | "answers" | "reply" | "replies" | "response" | "responses" | "cases")
}

/// Where it is told why what is said from a token on is wanted, or its end.
pub(super) fn reason(sentence: &Sentence<'_>, from: usize, end: usize) -> usize {
    (from + 1..end).find(|at| begins_reason(sentence, *at)).unwrap_or(end)
}

/// Whether it is told why from here on: "… short, | I read them on my phone", "… plain text, | markdown looks bad in my terminal", "because …".
fn begins_reason(sentence: &Sentence<'_>, at: usize) -> bool {
    if matches!(sentence.word(at), Some("because" | "cause" | "since" | "cuz")) {
        return true;
    }
    if sentence.mark(at - 1) != Some(",") {
        return false;
    }
    let is_verb = |at: usize| {
        sentence.word(at).is_some_and(|word| {
            let base = word.strip_suffix('s').filter(|_| !word.ends_with("ss"));
            base.is_some_and(|base| list("verbs").has(base) || list("reason verbs").has(base))
                || list("reason verbs").has(word)
        })
    };
    let first = sentence.word(at).unwrap_or_default();
    if list("reason").has(first) {
        return true;
    }
    let is_asking = may_instruct(sentence, at) || list("condition").at(sentence, at, sentence.len()) > 0;
    let is_of_mine = matches!(first, "my" | "our" | "the" | "most" | "that" | "this");
    let reach = if is_of_mine { 4 } else { 3 };
    !is_asking
        && !matches!(first, "and" | "or" | "not" | "in" | "on" | "for" | "at" | "with")
        && (at + 1..at + reach).take_while(|at| sentence.word(*at).is_some()).any(is_verb)
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

/// "when I ask about …"
pub(super) fn is_of_asking(condition: &str) -> bool {
    condition.split_whitespace().any(|word| {
        matches!(word.to_lowercase().trim_end_matches([',', ':']), "ask" | "asks" | "asked" | "asking")
    })
}

/// The same, or "when you tell me costs": of answers.
pub(super) fn is_of_answering(condition: &str) -> bool {
    const ANSWERS: [&str; 6] = ["answer", "answering", "explain", "explaining", "tell", "telling"];
    let words: Vec<String> = condition.split_whitespace().map(str::to_lowercase).collect();
    let answers_me = |pair: &[String]| ANSWERS.contains(&pair[0].as_str()) && pair[1].starts_with("me");
    is_of_asking(condition) || words.windows(2).any(answers_me)
}

/// "when I ask something": that is always.
pub(super) fn is_of_any_question(condition: &str) -> bool {
    let says_nothing = |word: &str| {
        matches!(
            word.to_lowercase().as_str(),
            "when"
                | "whenever"
                | "if"
                | "i"
                | "you"
                | "me"
                | "a"
                | "any"
                | "something"
                | "anything"
                | "question"
                | "questions"
        )
    };
    let mut words = condition.split_whitespace().map(|word| word.trim_matches(',')).peekable();
    words.peek().is_some()
        && is_of_asking(condition)
        && words.all(|word| says_nothing(word) || is_of_asking(word))
}

/// Where the condition says of what: "when I ask about implementation" is of implementation.
pub(super) fn topic(condition: &str) -> &str {
    let words: Vec<&str> = condition.split_whitespace().collect();
    let at = words.iter().take(8).position(|word| {
        let word = word.to_lowercase();
        matches!(word.as_str(), "about" | "for" | "regarding" | "concerning" | "on")
    });
    let asks = words.iter().take(6).any(|word| is_of_asking(word));
    match at.filter(|at| asks && at + 1 < words.len()) {
        Some(at) => {
            let from = words[at + 1].as_ptr() as usize - condition.as_ptr() as usize;
            &condition[from..]
        }
        None => condition,
    }
}

/// "For gifts to Oma: …" is said of gifts; "for example: …" is said of nothing.
fn is_topic(sentence: &Sentence<'_>, at: usize) -> bool {
    at == 0
        && matches!(sentence.word(0), Some("for" | "in" | "on" | "with"))
        && !sentence.word(1).is_some_and(|word| list("no setting").has(word))
}

/// "For example", "in the end", not "for the first draft".
fn names_no_setting(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    let is_all_of_it = |at: usize| {
        let words = list("no setting").at(sentence, at, end);
        words > 0 && at + words == end
    };
    is_all_of_it(start + 1) || is_all_of_it(start + 2)
}

/// "For example", "at the moment", "on Friday".
fn is_of_nothing(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    let is_until = matches!(sentence.word(start), Some("until" | "till"));
    names_no_setting(sentence, start, end)
        || (!is_until && list("passing").within(sentence, start, end))
        || list("standing").at(sentence, start, end) > 0
        || list("here only").at(sentence, start, end) > 0
        || list("lead-in").at(sentence, start, end) > 0
}
