//! What a statement says to be over: "no more Poetry", "forget the long report", "we moved from Jest to Vitest".

use memory_language::lexicon::is_function_word;

use super::clauses::{Tokens, may_instruct, start_of};
use super::sentence::Sentence;
use super::words::list;

/// The most tokens of what tells of a change before a statement that follows from it.
const CHANGE_MAX: usize = 16;

/// The ranges of tokens before `end` that name what is over.
pub(super) fn ended(sentence: &Sentence<'_>, end: usize) -> Vec<Tokens> {
    let gone = rule_is_gone(sentence).map(|(start, _)| (start, rule_at(sentence).unwrap_or(start)));
    let ended = (0..end).filter_map(|at| ended_at(sentence, at, end));
    ended.chain(gone).filter(|(from, to)| from < to).collect()
}

/// The most words of a name that is given up.
const NAME_MAX: usize = 3;
/// So far before what tells of a change stands who has changed.
const SUBJECT_MAX: usize = 6;

/// "Forget Harvard, we're on Vancouver now", "we've moved from prettier to biome": something is given up, and it is told what is there
/// instead.
pub(super) fn given_up(sentence: &Sentence<'_>) -> Option<Tokens> {
    let end = sentence.len();
    let is_name = |(from, to): &Tokens| {
        (1..=NAME_MAX).contains(&to.saturating_sub(*from))
            && (*from..*to).all(|at| sentence.word(at).is_some())
            && sentence.word(*from).is_some_and(|word| !is_function_word(word) && !is_particle(word))
    };
    let is_meant = |tokens: &Tokens| is_name(tokens) || is_described(sentence, *tokens);
    let (at, (from, to)) =
        (0..end).find_map(|at| Some((at, ended_at(sentence, at, end).filter(is_meant)?)))?;
    let start = start_of(sentence, at);
    let is_given_up = match sentence.word(at)? {
        "forget" | "scratch" | "scrap" | "ditch" => {
            let is_clear = is_described(sentence, (from, to)) || names_instead(sentence, to);
            starts_clause(sentence, start, at) && is_clear
        }
        _ if !is_name(&(from, to)) => false,
        "is" | "are" => {
            let is_over = matches!(
                sentence.word(at + 1),
                Some("history" | "gone" | "retired" | "obsolete" | "dropped")
            );
            is_over && names_instead(sentence, to)
        }
        "from" | "off" | "away" | "dropped" | "ditched" | "replaced" | "abandoned" => is_ours(sentence, at),
        _ => false,
    };
    let stops = |at: &usize| matches!(sentence.mark(*at), Some("." | "!" | "?" | "…"));
    let last = (to..end).find(stops).unwrap_or(end);
    (is_given_up && !sentence.is_question() && !sentence.is_quoted(at)).then_some((start, last))
}

/// "The Dutch commit messages": several words say what it is.
fn is_described(sentence: &Sentence<'_>, (from, to): Tokens) -> bool {
    let is_own = matches!(sentence.word(from), Some("the" | "my" | "our" | "those" | "these" | "all"));
    let says = |at: &usize| sentence.word(*at).is_some_and(|word| !is_function_word(word));
    is_own && (from + 1..to).filter(says).count() > 1
}

fn is_particle(word: &str) -> bool {
    matches!(word, "out" | "off" | "by" | "in" | "back" | "down" | "it" | "over")
}

fn starts_clause(sentence: &Sentence<'_>, start: usize, at: usize) -> bool {
    (start..at).all(|at| sentence.word(at).is_none_or(|word| list("lead-in").has(word)))
}

/// "We've moved", "the team has switched".
fn is_ours(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_one = |at: usize| {
        matches!(
            sentence.word(at),
            Some("we" | "we've" | "we're" | "i" | "i've" | "i'm" | "team" | "company" | "our" | "everyone")
        )
    };
    (at.saturating_sub(SUBJECT_MAX)..at).any(is_one)
}

/// "…, we're on Vancouver now", "…, it's Linear now": a name is there instead.
fn names_instead(sentence: &Sentence<'_>, from: usize) -> bool {
    let end = sentence.len();
    let is_bare =
        |at: usize| sentence.word(at).is_some_and(|word| !is_function_word(word) && !list("again").has(word));
    let is_now = |at: usize| {
        (at + 1..=at + NAME_MAX + 1).any(|at| {
            matches!(sentence.word(at), Some("now" | "instead")) || list("standing").at(sentence, at, end) > 0
        })
    };
    let names = |at: usize| match sentence.word(at) {
        Some("on" | "with" | "using" | "use" | "to" | "uses") => is_bare(at + 1),
        Some("it's" | "its" | "wants") => is_bare(at + 1) && sentence.is_name(at + 1),
        _ => false,
    };
    (from..end).any(|at| names(at) && is_now(at))
}

/// "You needn't poke me on Fridays any more", "scrap that thing about Sundays", "the week numbers: you can stop that": it takes something back and says nothing that holds
/// instead. Where it is known to be no permission it must say that something is over: "no need for greetings" is a wish.
pub fn only_takes_back(quote: &str, is_permission: bool) -> bool {
    let sentence = Sentence::new(quote, 0..quote.len());
    let end = sentence.len();
    let pair = |at: usize| (sentence.word(at).unwrap_or_default(), sentence.word(at + 1).unwrap_or_default());
    let takes_back = |at: usize| {
        list("no need").at(&sentence, at, end) > 0
            || matches!(
                pair(at),
                ("doesn't" | "don't" | "not", "hold" | "apply" | "count")
                    | (
                        "forget" | "scrap" | "scratch" | "drop" | "ignore",
                        "the" | "that" | "my" | "what" | "all"
                    )
            )
    };
    let says_more = |at: usize| {
        matches!(
            sentence.word(at),
            Some("but" | "please" | "instead" | "only" | "except" | "unless" | "just")
        ) || list("standing").at(&sentence, at, end) > 0
    };
    let is_over = is_permission || list("over").within(&sentence, 0, end);
    let stops = |at: usize| {
        matches!(pair(at), ("you", "can" | "may"))
            && matches!(pair(at + 2), ("stop" | "drop" | "skip" | "forget", "that" | "it" | "this" | "doing"))
    };
    (is_over && (0..end).any(takes_back) || (0..end).any(stops))
        && !(0..end).any(says_more)
        && !names_instead(&sentence, 0)
}

/// Whether what is over is called a rule: "forget the rule about squashing".
pub(super) fn names_rule(sentence: &Sentence<'_>) -> bool {
    rule_is_gone(sentence).is_some()
        || (0..sentence.len()).any(|at| revokes_rule(sentence, at) || said_earlier(sentence, at).is_some())
}

/// "Scratch that rule about …", not "don't drop the rule".
fn revokes_rule(sentence: &Sentence<'_>, at: usize) -> bool {
    let denied = at.checked_sub(1).and_then(|before| sentence.word(before));
    matches!(
        sentence.word(at),
        Some("forget" | "scratch" | "scrap" | "drop" | "cancel" | "ignore" | "revoke")
    ) && !matches!(denied, Some("don't" | "dont" | "not" | "never" | "i" | "to" | "always"))
        && matches!(sentence.word(at + 1), Some("the" | "that" | "my" | "our" | "this"))
        && (at + 2..at + 6).any(|at| is_rule(sentence, at))
}

/// So far before what takes back stands that it does not.
const DENIED_WITHIN: usize = 3;

/// Where what is taken back begins: "forget what I said about | tables", "ignore what I told you about | the tone".
fn said_earlier(sentence: &Sentence<'_>, at: usize) -> Option<usize> {
    let is_denied = (at.saturating_sub(DENIED_WITHIN)..at).any(|before| {
        matches!(sentence.word(before), Some("don't" | "dont" | "not" | "never" | "i" | "to" | "always"))
    });
    let takes_back =
        matches!(sentence.word(at), Some("forget" | "scratch" | "scrap" | "ignore" | "disregard"))
            && !is_denied
            && matches!(sentence.word(at + 1), Some("what" | "everything" | "all"))
            && matches!(sentence.word(at + 2), Some("i" | "we" | "i've"))
            && matches!(sentence.word(at + 3), Some("said" | "told" | "wrote" | "asked" | "wanted"));
    let about = (at + 4..at + 7).find(|at| matches!(sentence.word(*at), Some("about" | "regarding")))?;
    takes_back.then_some(about + 1)
}

/// "Forget what I said about mornings", "the tie: not needed any more": whether a statement only ends something. "Use pnpm, yarn is no
/// longer needed" does not.
pub(super) fn only_ends(sentence: &Sentence<'_>, (start, end): Tokens) -> bool {
    let ends = |at: &usize| sentence.mark(*at) == Some(",");
    let is_over = |at: usize| {
        let words = [at, at + 1, at + 2].map(|at| sentence.word(at).unwrap_or_default());
        matches!(words, ["not", "needed", "any" | "anymore"] | ["no", "longer", "needed"])
    };
    let mut first = start..(start..end).find(ends).unwrap_or(end);
    said_earlier(sentence, start).is_some()
        || is_over(start)
        || (!may_instruct(sentence, start) && first.any(is_over))
}

/// What a rule is about goes on to the next mark.
fn rule_end(sentence: &Sentence<'_>, from: usize, end: usize) -> usize {
    (from..end).find(|at| sentence.mark(*at).is_some()).unwrap_or(end)
}

fn is_rule(sentence: &Sentence<'_>, at: usize) -> bool {
    matches!(
        sentence.word(at),
        Some("rule" | "rules" | "policy" | "requirement" | "ban" | "restriction" | "limit" | "freeze")
    )
}

fn rule_at(sentence: &Sentence<'_>) -> Option<usize> {
    (0..sentence.len()).find(|at| is_rule(sentence, *at))
}

fn ended_at(sentence: &Sentence<'_>, at: usize, end: usize) -> Option<Tokens> {
    if let Some(from) = said_earlier(sentence, at) {
        return Some((from, rule_end(sentence, from, end)));
    }
    let word = |n: usize| sentence.word(at + n);
    let from = match word(0)? {
        "no" if matches!(word(1), Some("more" | "longer")) => at + 2,
        "forget" | "scratch" | "scrap" | "drop" | "cancel" | "ignore" | "revoke"
            if revokes_rule(sentence, at) =>
        {
            return Some((at + 1, rule_end(sentence, at + 1, end)));
        }
        "forget" | "scrap" if is_forgotten(sentence, at) => at + 1,
        "scratch" | "ditch" if is_forgotten(sentence, at) && names_instead(sentence, at) => at + 1,
        "off" if at > 0 && is_moving(sentence, at - 1) => at + 1,
        "from" if tells_of_move(sentence, at, end) => at + 1,
        "away" if word(1) == Some("from") => at + 2,
        "rid" if word(1) == Some("of") => at + 2,
        "dropped" | "ditched" | "replaced" | "abandoned" if !is_passive(sentence, at) => at + 1,
        "don't" | "dont" | "never" | "not" | "stop" => {
            let to = clause_end(sentence, at + 1, end);
            return list("over").within(sentence, at, to).then_some((at + 1, to));
        }
        "is" | "are" | "was" | "were" if is_gone(sentence, at) => return Some((start_of(sentence, at), at)),
        _ => return None,
    };
    Some((from, clause_end(sentence, from, end)))
}

/// Up to the next mark, or to what comes instead.
fn clause_end(sentence: &Sentence<'_>, from: usize, end: usize) -> usize {
    let ends = |at: &usize| {
        sentence.mark(*at).is_some_and(|mark| matches!(mark, "," | ";" | ":" | "—" | "–" | "-" | "(" | "…"))
            || matches!(
                sentence.word(*at),
                Some("to" | "onto" | "with" | "by" | "for" | "and" | "but" | "so" | "because" | "since")
            )
    };
    (from..end).find(ends).unwrap_or(end)
}

/// "Forget the long report", not "don't forget", "forget to", "forget what I said".
fn is_forgotten(sentence: &Sentence<'_>, at: usize) -> bool {
    let denied = at.checked_sub(1).and_then(|before| sentence.word(before));
    !matches!(denied, Some("don't" | "dont" | "not" | "never" | "i" | "to" | "always"))
        && !matches!(
            sentence.word(at + 1),
            None | Some("to" | "what" | "that" | "it" | "this" | "how" | "everything")
        )
}

/// "We moved … from Jest to Vitest".
fn tells_of_move(sentence: &Sentence<'_>, from: usize, end: usize) -> bool {
    (from.saturating_sub(4)..from).any(|at| is_moving(sentence, at))
        && (from + 1..end.min(from + 6)).any(|at| sentence.word(at) == Some("to"))
}

fn is_moving(sentence: &Sentence<'_>, at: usize) -> bool {
    matches!(
        sentence.word(at),
        Some("moved" | "switched" | "migrated" | "changed" | "moving" | "switching" | "migrating")
    )
}

fn is_passive(sentence: &Sentence<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| sentence.word(before));
    matches!(before, Some("is" | "are" | "was" | "were" | "been" | "being" | "be"))
}

/// "… is gone", "… has been dropped", of which this is the "is".
fn is_gone(sentence: &Sentence<'_>, at: usize) -> bool {
    let next = at + 1 + usize::from(matches!(sentence.word(at + 1), Some("now" | "all" | "finally")));
    matches!(
        sentence.word(next),
        Some(
            "gone"
                | "dropped"
                | "lifted"
                | "abolished"
                | "cancelled"
                | "canceled"
                | "obsolete"
                | "history"
                | "retired"
                | "off"
        )
    )
}

/// "The Tuesday-only rule is gone": a rule that holds no more.
pub(super) fn rule_is_gone(sentence: &Sentence<'_>) -> Option<Tokens> {
    let rule = rule_at(sentence)?;
    let verb = rule + 1;
    let applies_no_more = sentence.word(verb) == Some("no")
        && sentence.word(verb + 1) == Some("longer")
        && matches!(sentence.word(verb + 2), Some("applies" | "holds" | "apply" | "hold" | "stands"));
    let is = matches!(sentence.word(verb), Some("is" | "are" | "was" | "were")) && is_gone(sentence, verb);
    let start = start_of(sentence, rule);
    let end = super::clauses::end_of(sentence, rule);
    ((is || applies_no_more) && start < rule && !sentence.is_question()).then_some((start, end))
}

/// Where a statement begins, together with the change before it that it follows from: "we moved from Jest to Vitest, | use
/// Vitest", "forget the e2e suite, | run only the smoke tests".
pub(super) fn with_change(sentence: &Sentence<'_>, start: usize, floor: usize) -> usize {
    let Some(comma) = start.checked_sub(1).filter(|at| sentence.mark(*at) == Some(",")) else { return start };
    let from = start_of(sentence, comma).max(floor);
    let is_near = comma > from && comma - from <= CHANGE_MAX;
    let tells = (from..comma).any(|at| {
        is_moving(sentence, at) || (sentence.word(at) == Some("forget") && is_forgotten(sentence, at))
    });
    let is_of_user = matches!(
        sentence.word(from),
        Some("we" | "we've" | "i" | "i've" | "user" | "the" | "forget" | "please")
    );
    if is_near && tells && is_of_user { from } else { start }
}
