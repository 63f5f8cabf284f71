//! Days that are of what is promised and not its deadline: "book the hall for 12 December", "find out if the pool is open on
//! Sunday", "set up a no-meeting Wednesday".

use memory_language::time::Granularity;
use memory_language::time::Reading;

/// Between the verb and the day of what is booked stand no more words.
const BOOKED_WORDS: usize = 12;

/// Whether a day is that of a thing; the words before it and behind it stand in small letters.
pub(super) fn is_of_what_is_promised(before: &[String], behind: &[String], reading: &Reading) -> bool {
    reading.granularity <= Granularity::Month
        && (is_booked_for(before) || is_in_a_clause(before) || is_called_so(before, behind))
}

/// "Book the hall for 12 December", "reserves a table for Saturday evening", "inviting them for Sunday".
fn is_booked_for(before: &[String]) -> bool {
    const BOOKS: [&str; 10] =
        ["arrange", "book", "hire", "invite", "order", "prepare", "register", "rent", "reserve", "schedule"];
    // "Is booked for Friday" says when it is.
    let is_form = |word: &str| {
        BOOKS.iter().any(|base| {
            let stem = base.trim_end_matches('e');
            let is_base = word == *base || word.strip_prefix(base) == Some("s");
            is_base || word.strip_prefix(stem) == Some("ing")
        })
    };
    let near = &before[before.len().saturating_sub(BOOKED_WORDS)..];
    let verb = near.iter().rposition(|word| is_form(word));
    // "The order for Friday" is a noun.
    let is_verb = verb.is_some_and(|at| {
        at.checked_sub(1)
            .is_none_or(|lead| !matches!(near[lead].as_str(), "the" | "a" | "an" | "our" | "this"))
    });
    // "For the weekend".
    let lead = before.iter().rev().find(|word| !matches!(word.as_str(), "the" | "this" | "next"));
    lead.is_some_and(|word| word == "for") && is_verb
}

/// "Find out if the pool is open on Sunday", "check when the ferry runs on Christmas Day", "once the audit is done on 10 December".
fn is_in_a_clause(before: &[String]) -> bool {
    const LEADS: [&str; 8] = ["if", "whether", "once", "when", "who", "how", "where", "why"];
    const VERBS: [&str; 10] = ["is", "are", "can", "could", "do", "does", "has", "have", "need", "needs"];
    let Some(lead) = before.iter().rposition(|word| LEADS.contains(&word.as_str())) else { return false };
    // "Ask who can help, I'll call on Friday": another clause begins behind it.
    let is_main = |word: &String| {
        matches!(word.as_str(), "i" | "we" | "will" | "shall" | "to" | "and") || word.ends_with("'ll")
    };
    let inner = &before[lead + 1..];
    let is_finite = |word: &String| {
        VERBS.contains(&word.as_str())
            || super::super::verbs::of(word).is_some_and(|verb| verb.third && !verb.base)
    };
    lead > 0 && !inner.iter().any(is_main) && inner.iter().any(is_finite)
}

/// "A no-meeting Wednesday", "the cancelled Friday gig".
fn is_called_so(before: &[String], behind: &[String]) -> bool {
    let [.., article, word] = before else { return false };
    let is_article = matches!(article.as_str(), "a" | "an" | "the" | "our" | "my");
    let goes_on = behind.first().is_some_and(|word| word.chars().all(char::is_alphabetic));
    let is_compound = word.contains('-') && !word.starts_with("mid-");
    is_article && (is_compound || (word.ends_with("ed") && goes_on))
}
