//! Whose words stand behind a colon: "reply to Paula: please always …" and "mail from the bank: never …" want nothing of whoever helps.

use super::clauses::is_reported;
use super::sentence::Sentence;
use super::speakers::Voice;
use super::words::list;

/// The most tokens of what stands before such a colon.
const HEAD_MAX: usize = 14;
/// The most tokens of what says how a text is to be worked on.
const WORK_MAX: usize = 8;

/// The colon behind which the words are another's, or are only to be worked on.
pub(super) fn barred_from(sentence: &Sentence<'_>, voice: Voice) -> Option<usize> {
    let colon = (1..sentence.len().min(HEAD_MAX)).find(|at| sentence.mark(*at) == Some(":"))?;
    let first = skipped(sentence, colon);
    let is_lasting = (0..colon).any(|at| {
        matches!(
            sentence.word(at),
            Some(
                "always"
                    | "never"
                    | "every"
                    | "everything"
                    | "each"
                    | "all"
                    | "any"
                    | "user"
                    | "user's"
                    | "you"
                    // "One more for the assistant: …"
                    | "assistant"
                    | "ai"
            )
        )
    }) || list("standing").within(sentence, 0, colon)
        || list("condition").at(sentence, 0, colon) > 0;
    let is_anothers = first < colon
        && !is_lasting
        && (is_on_text(sentence, first, colon)
            || is_to_somebody(sentence, first, colon)
            || is_message(sentence, colon)
            || is_review(sentence, colon)
            || is_from(sentence, first)
            || (voice == Voice::Note && is_mend(sentence, colon)));
    (is_anothers && voice != Voice::Preference).then_some(colon)
}

/// Whether what follows a question is what it asks about: "is this sentence right? I never eat meat."
fn asks_about_text(sentence: &Sentence<'_>) -> bool {
    let names_text = |at: usize| {
        matches!(sentence.word(at), Some("this" | "following" | "my"))
            && (at + 1..at + 4).any(|at| list("piece of text").has(sentence.word(at).unwrap_or_default()))
    };
    let all = 0..sentence.len();
    sentence.is_question()
        && all.clone().any(names_text)
        && all.clone().any(|at| list("judging text").has(sentence.word(at).unwrap_or_default()))
}

/// Whether what follows a sentence in its paragraph is such a text.
pub(super) fn announces_words(sentence: &Sentence<'_>) -> bool {
    let colon = (1..sentence.len()).find(|at| sentence.mark(*at) == Some(":"));
    // "Here is what my landlord wrote: …"
    let is_told = colon.is_some_and(|colon| is_reported(sentence, colon));
    is_told || asks_about_text(sentence) || barred_from(sentence, Voice::User).is_some()
}

/// Whether the text that it announces begins with the next line.
pub(super) fn ends_open(sentence: &Sentence<'_>) -> bool {
    matches!(sentence.tokens.last().map(|token| token.text.as_str()), Some(":" | "?"))
        && announces_words(sentence)
        && !names_rules(sentence, sentence.len())
}

/// "From now on …", "user prefers …": that is said to whoever helps, whatever was worked on before it.
pub(super) fn is_of_now_on(sentence: &Sentence<'_>) -> bool {
    let is_about_user = sentence.introduced.is_some() || tells_of_user(sentence);
    is_about_user || list("standing").at(sentence, skipped(sentence, sentence.len()), sentence.len()) > 0
}

/// Over "please", "can you" and the like.
fn skipped(sentence: &Sentence<'_>, end: usize) -> usize {
    let mut at = 0;
    loop {
        let words = list("lead-in").at(sentence, at, end).max(list("request").at(sentence, at, end));
        match (words, sentence.mark(at)) {
            (0, Some(",")) => at += 1,
            (0, _) => return at,
            _ => at += words,
        }
    }
}

/// "Proofread: …", "translate this into Spanish: …", "how do I say in German: …".
fn is_on_text(sentence: &Sentence<'_>, first: usize, colon: usize) -> bool {
    let asks_how = matches!(sentence.word(first), Some("how" | "what" | "is" | "are"))
        && (first..colon).any(|at| {
            matches!(
                sentence.word(at),
                Some("say" | "spell" | "translate" | "mean" | "correct" | "right" | "sound")
            )
        });
    let works = list("work on text").at(sentence, first, colon) > 0 && colon - first <= WORK_MAX;
    // "Check the docs first: never guess an API" gives no text to be worked on.
    let may_be_other =
        matches!(sentence.word(first), Some("check" | "fix" | "review" | "improve" | "edit" | "correct"));
    let names_text = (first + 1..colon).any(|at| {
        let word = sentence.word(at).unwrap_or_default();
        matches!(word, "grammar" | "spelling" | "english" | "following" | "it")
            || (word == "this" && sentence.word(at - 1) != Some("like"))
            || list("message").has(word)
            || list("piece of text").has(word)
    });
    (works && (!may_be_other || names_text || colon == first + 1)) || asks_how
}

/// "Reply to Paula: …", "draft an email to the tenants: …".
fn is_to_somebody(sentence: &Sentence<'_>, first: usize, colon: usize) -> bool {
    let writes = list("write to").at(sentence, first, colon);
    let next = first + writes;
    let is_of_one = matches!(
        sentence.word(next),
        Some("a" | "an" | "the" | "my" | "our" | "this" | "back" | "him" | "her" | "them" | "to")
    ) || sentence.is_name(next);
    let names_whom =
        (next..colon).any(|at| matches!(sentence.word(at), Some("to" | "for" | "him" | "her" | "them")));
    let names_what = (next..colon).any(|at| list("message").has(sentence.word(at).unwrap_or_default()));
    writes > 0 && is_of_one && (names_whom || names_what || is_person(sentence, next, colon))
}

/// "Text my sister: …", "tell Bob: …": all of it is whom.
fn is_person(sentence: &Sentence<'_>, from: usize, colon: usize) -> bool {
    colon <= from + 3
        && matches!(
            sentence.word(from.saturating_sub(1)),
            Some("text" | "tell" | "message" | "email" | "mail" | "ask" | "remind")
        )
}

/// "Here's the mail from Ola: …", "sign at the pool: …", "prompt for our bot: …".
fn is_message(sentence: &Sentence<'_>, colon: usize) -> bool {
    (0..colon).any(|at| {
        let word = sentence.word(at).unwrap_or_default();
        let next = sentence.word(at + 1).filter(|_| at + 1 < colon);
        let whose = (at + 1..colon).find(|at| matches!(sentence.word(*at), Some("from" | "by")));
        let is_users = |from: usize| matches!(sentence.word(from + 1), Some("me" | "us" | "user"));
        (list("message").has(word) && whose.is_some_and(|from| !is_users(from)))
            || (list("shown text").has(word)
                && matches!(next, Some("at" | "on" | "in" | "by" | "outside" | "says" | "reads")))
            || (list("made text").has(word) && matches!(next, Some("for" | "of" | "idea")))
            || (word == "prompt" && at > 0)
            || (at == 0 && colon <= 2 && list("made text").has(word))
            || (word == "ticket" && at == 0)
    })
}

/// "Review by Ana: …", "nit: …", "comments from Tom on the PR: …", not "review rules: …".
fn is_review(sentence: &Sentence<'_>, colon: usize) -> bool {
    let is_of_what = |at: &usize| {
        matches!(sentence.word(*at), Some("the" | "a" | "pr" | "mr" | "code" | "pull" | "request"))
    };
    let first = (0..colon).find(|at| !is_of_what(at)).unwrap_or(colon);
    let has =
        |words: &[&str]| (0..colon).any(|at| sentence.word(at).is_some_and(|word| words.contains(&word)));
    let names = match sentence.word(first) {
        Some("review" | "reviewer" | "reviewers" | "reviewer's" | "nit" | "nits" | "nitpick") => true,
        Some("feedback" | "comments" | "comment" | "remarks") => {
            has(&["from", "by", "on"]) && has(&["pr", "mr", "pull", "patch", "diff", "review"])
        }
        _ => false,
    };
    names && !names_rules(sentence, colon)
}

/// "Review rules", "conventions as told by Henrike": these hold, whoever has said them.
fn names_rules(sentence: &Sentence<'_>, colon: usize) -> bool {
    (0..colon).any(|at| {
        matches!(
            sentence.word(at),
            Some(
                "rules"
                    | "rule"
                    | "conventions"
                    | "guidelines"
                    | "guideline"
                    | "policy"
                    | "checklist"
                    | "style"
                    | "process"
                    | "agreed"
                    | "preferences"
                    | "etiquette"
                    | "habits"
            )
        )
    })
}

/// "From Slack: …", not "from Monday: …".
fn is_from(sentence: &Sentence<'_>, first: usize) -> bool {
    let is_when = |word: &str| list("passing").has(word) || list("month").has(word);
    sentence.word(first) == Some("from")
        && sentence.is_name(first + 1)
        && !sentence.word(first + 1).is_some_and(is_when)
}

/// "Fix: use …": what has helped once.
fn is_mend(sentence: &Sentence<'_>, colon: usize) -> bool {
    colon <= 2 && matches!(sentence.word(colon - 1), Some("fix" | "workaround" | "solution" | "resolution"))
}

/// "User prefers …", "the user is …".
pub(super) fn tells_of_user(sentence: &Sentence<'_>) -> bool {
    let at = usize::from(sentence.word(0) == Some("the"));
    sentence.word(at) == Some("user")
}
