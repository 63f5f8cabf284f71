//! Deadlines: when what is promised falls due, by the words of the promise.

mod denied;
pub(super) mod habits;
mod of_things;
#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use memory_language::time::{Granularity, Lean, Reading, Relation, readings};

use super::date_context::DateContext;
use super::verbs;

/// Between a date and the verb it belongs to stand fewer words.
const READ_WORDS: usize = 6;

/// When a promise made in `words` falls due: the date that a word such as "by" marks, else the last one still to come,
/// else a deadline that had passed when it was written.
pub(super) fn due(words: &str, dates: DateContext) -> Option<Timestamp> {
    if habits::tells_a_habit(words) {
        return None;
    }
    let reference = dates.reference;
    let readings: Vec<Reading> = dates
        .readings(words, Lean::Future)
        .into_iter()
        .filter(|reading| !reading.is_ambiguous && !tells_something_else(words, reading))
        // What starts then is not done by then.
        .filter(|reading| !matches!(reading.relation, Relation::After | Relation::Since | Relation::From))
        // "29 Sep | Ann signs it" in a row of that day: when it was said.
        .filter(|reading| {
            reference != Some(reading.start) || reading.relation != Relation::At || reading.is_relative
        })
        .collect();
    let ahead: Vec<&Reading> = readings
        .iter()
        .filter(|reading| reference.is_none_or(|now| last_moment(reading, reference) >= now))
        .collect();
    // "On Sunday 5 April, with Ann returning the favour in the autumn": no season beside a day.
    let names_day = ahead.iter().any(|reading| reading.granularity <= Granularity::Day);
    let exact = |reading: &&&Reading| !names_day || reading.granularity <= Granularity::Month;
    let marked = ahead.iter().find(|reading| reading.is_deadline());
    let day = marked.or_else(|| ahead.iter().rfind(exact));
    day.map(|day| stated_beside(words, day, &readings).unwrap_or_else(|| last_moment(day, reference)))
        .or_else(|| at_the_hour(words, reference?))
        .or_else(|| end_of_day(reference?).filter(|_| is_within_the_day(words)))
        .or_else(|| readings.iter().find(|reading| is_overdue(reading)).map(Reading::deadline))
}

/// When a promise of this date is to be kept: "before Friday", said on a Friday, is that day still.
fn last_moment(reading: &Reading, reference: Option<Timestamp>) -> Timestamp {
    let is_within = reference.is_some_and(|now| reading.start <= now && now < reading.end);
    let is_today = reading.relation == Relation::Before && is_within;
    let last = || reading.end.checked_sub(SignedDuration::from_secs(1)).unwrap_or(reading.end);
    if is_today { last() } else { reading.deadline() }
}

/// The words before a date and behind it, in small letters and without marks.
fn around(words: &str, reading: &Reading) -> (Vec<String>, Vec<String>) {
    let lower = |words: &str| -> Vec<String> {
        let all = words.split_whitespace().map(|word| bare(word).to_lowercase().replace('’', "'"));
        all.filter(|word| !word.is_empty()).collect()
    };
    (lower(&words[..reading.range.start]), lower(&words[reading.range.end..]))
}

/// Whether what is told as past was on this day: "we voted on Tuesday", "on Tuesday we voted"; not "we decided to close on Friday", "the
/// Friday meeting was cancelled", "it was moved to Friday".
pub(super) fn is_day_of_the_past(words: &str, reading: &Reading) -> bool {
    let (before, behind) = around(words, reading);
    let last = before.last().map_or("", String::as_str);
    let names = matches!(last, "the" | "our" | "my" | "a")
        && behind.first().is_some_and(|word| !matches!(word.as_str(), "and" | "we" | "it" | "when"));
    if names || matches!(last, "to" | "for" | "from" | "until") {
        return false;
    }
    // "The review on Tuesday found it", "we met the archive people on the 11th": many nouns may be verbs.
    let is_noun = |at: usize| {
        at > 0
            && matches!(before[at - 1].as_str(), "the" | "our" | "my" | "a" | "an" | "his" | "her" | "their")
    };
    let is_verb = |at: &usize| {
        let word = before[*at].as_str();
        !is_noun(*at) && (is_past(word) || (verbs::of(word).is_some() && word != "meeting"))
    };
    let verb = (0..before.len()).rfind(is_verb);
    // "The minutes of the meeting held on 10 December were approved."
    if before.iter().rev().take(2).any(|word| word == "held")
        && behind.iter().any(|word| matches!(word.as_str(), "was" | "were" | "are" | "is"))
    {
        return false;
    }
    let was = |verb: usize| is_past(&before[verb]) || (verb > 1 && before[verb - 2..verb] == ["had", "to"]);
    verb.is_some_and(was)
        || (!before.iter().any(|word| is_past(word))
            && behind.iter().take(READ_WORDS).any(|word| is_past(word)))
}

/// Whether a date in what is told as done is of something else: "booked the ferry for 3 July", "gave her the key so she can feed it on
/// Sunday", "promised to hand it in by Monday", "capped it because it failed on 30 October".
pub(super) fn is_day_of_another_deed(words: &str, reading: &Reading) -> bool {
    const BOOKS: [&str; 8] =
        ["arranged", "booked", "invited", "ordered", "registered", "rescheduled", "reserved", "scheduled"];
    let (before, behind) = around(words, reading);
    let last = before.last().map_or("", String::as_str);
    let phrase = words[reading.range.clone()].to_lowercase();
    let is_booked = before.iter().any(|word| BOOKS.contains(&word.as_str()));
    let is_past_day = ["yesterday", "today", "last", "ago"].iter().any(|word| phrase.contains(word));
    // "so she can feed it", "he comes"; "the release" and "the filters" are no verbs.
    let leads = |word: &str| {
        const LEADS: [&str; 18] = [
            "i", "you", "he", "she", "it", "we", "they", "who", "to", "can", "could", "will", "would", "may",
            "might", "should", "must", "i'll",
        ];
        LEADS.contains(&word)
    };
    let verb = (0..before.len()).rfind(|at| is_past(&before[*at]) || verbs::of(&before[*at]).is_some());
    let is_later = verb.is_some_and(|at| at > 0 && !is_past(&before[at]) && leads(&before[at - 1]));
    // "painted the fence, will oil the gate on Friday".
    let is_ahead = before
        .iter()
        .rposition(|word| matches!(word.as_str(), "will" | "shall" | "gonna") || word.ends_with("'ll"))
        .is_some_and(|will| !before[will..].iter().any(|word| is_past(word)));
    reading.is_deadline()
        || is_ahead
        || matches!(last, "for" | "to" | "until")
        || (is_booked && !is_past_day)
        || is_later
        || before.iter().rev().take(2).any(|word| matches!(word.as_str(), "is" | "are" | "will"))
        || is_of_a_reason(words, reading)
        || is_possessor(&before, &behind)
        || is_of_a_thing(&before, &behind, reading, &phrase)
}

/// "We capped it because it took the service down on 30 October".
pub(super) fn is_of_a_reason(words: &str, reading: &Reading) -> bool {
    let before = words[..reading.range.start].trim_end();
    // "since 1 July" says when.
    let since = before.find(" since ").is_some_and(|at| at + " since ".len() < before.len());
    since || before.contains(" because ") || before.contains(" due to ")
}

/// Whether a date says when something was rather than when it is to be, or what something is called.
fn tells_something_else(words: &str, reading: &Reading) -> bool {
    let (before, behind) = around(words, reading);
    match reading.relation {
        // "but not before Friday", "he won't start until Monday".
        Relation::Before => before.iter().rev().take(2).any(|word| word == "not"),
        Relation::Until => before.iter().any(|word| word == "not" || word.ends_with("n't")),
        Relation::At => {
            is_of_the_past(&before)
                || denied::is_denied(words, reading)
                || is_said_then(&behind)
                || is_in_a_name(&before, &behind, reading)
                || of_things::is_of_what_is_promised(&before, &behind, reading)
        }
        _ => false,
    }
}

/// "the bug we found on Tuesday", "the complaint received on Thursday", "Jan promised on Monday to lend it": the last verb before
/// the date is of the past; in "to be sent on Friday" and "get it fixed on Friday" it is not.
fn is_of_the_past(before: &[String]) -> bool {
    const PASSIVE: [&str; 10] =
        ["be", "been", "being", "get", "getting", "have", "having", "need", "needs", "want"];
    // "The demo is booked for Friday", "a review scheduled on Friday" are still to come.
    const SET: [&str; 10] = [
        "arranged",
        "booked",
        "expected",
        "moved",
        "planned",
        "postponed",
        "rescheduled",
        "scheduled",
        "set",
        "slated",
    ];
    if before.last().is_some_and(|word| matches!(word.as_str(), "for" | "to")) {
        return false;
    }
    let is_verb = |at: &usize| is_past(&before[*at]) || verbs::of(&before[*at]).is_some();
    let verb = (0..before.len()).rfind(|at| is_verb(at) && !is_attribute(before, *at));
    let verb = verb.filter(|verb| !SET.contains(&before[*verb].as_str()));
    verb.filter(|verb| before.len() - verb <= READ_WORDS && is_past(&before[*verb])).is_some_and(|verb| {
        let lead = &before[verb.saturating_sub(READ_WORDS)..verb];
        !lead.is_empty() && !lead.iter().any(|word| PASSIVE.contains(&word.as_str()))
    })
}

/// "will present revised routes", "will order felt": what stands right behind the verb of a promise belongs to what is promised.
fn is_attribute(before: &[String], at: usize) -> bool {
    const LEADS: [&str; 8] = ["will", "shall", "to", "must", "can", "should", "and", "also"];
    let verb = at.checked_sub(1).filter(|verb| verbs::of(&before[*verb]).is_some_and(|it| it.base));
    let lead = verb.and_then(|verb| verb.checked_sub(1)).map(|lead| before[lead].as_str());
    is_past(&before[at]) && lead.is_some_and(|lead| LEADS.contains(&lead) || lead.ends_with("'ll"))
}

pub(super) fn is_past(word: &str) -> bool {
    const IRREGULAR: [&str; 28] = [
        "asked", "borrowed", "bought", "broke", "brought", "came", "did", "fell", "found", "gave", "got",
        "had", "left", "lent", "lost", "made", "met", "paid", "said", "saw", "sent", "spoke", "stole",
        "told", "took", "was", "went", "wrote",
    ];
    IRREGULAR.contains(&word)
        || verbs::of(word).is_some_and(|verb| verb.past && !verb.base)
        || (word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed"))
}

/// "On Sunday I promised Gran that I will fix it".
fn is_said_then(behind: &[String]) -> bool {
    const SAYING: [&str; 8] =
        ["agreed", "asked", "confirmed", "offered", "promised", "said", "told", "volunteered"];
    behind.iter().take(3).any(|word| SAYING.contains(&word.as_str()))
}

/// "the Q3 report", "check the invoices for October": what the time belongs to is written on it.
fn is_in_a_name(before: &[String], behind: &[String], reading: &Reading) -> bool {
    const SETTING: [&str; 9] =
        ["plan", "planned", "schedule", "scheduled", "book", "booked", "aim", "aiming", "set"];
    const NO_NAME: [&str; 14] =
        ["and", "at", "but", "by", "for", "from", "if", "in", "on", "or", "so", "to", "we", "with"];
    let names = reading.granularity == Granularity::Quarter
        && behind
            .first()
            .is_some_and(|word| !NO_NAME.contains(&word.as_str()) && word.chars().all(char::is_alphabetic))
        && before.last().is_some_and(|word| matches!(word.as_str(), "the" | "our" | "this" | "its" | "my"));
    let is_for = reading.granularity == Granularity::Month
        && before.last().is_some_and(|word| word == "for")
        && !before.iter().any(|word| SETTING.contains(&word.as_str()));
    names || is_for || is_possessor(before, behind)
}

/// "type up Tuesday's results" says of which day they are; "bring it to Tuesday's meeting" says when.
fn is_possessor(before: &[String], behind: &[String]) -> bool {
    const LEADS: [&str; 8] = ["by", "before", "for", "until", "at", "in", "to", "on"];
    behind.first().is_some_and(|word| word == "s")
        && behind.len() > 1
        && !before.last().is_some_and(|word| LEADS.contains(&word.as_str()))
}

/// "Submitted the Q3 return", "paid the invoice of 3 October", "sent the notes of the 14 September meeting": of what it is.
fn is_of_a_thing(before: &[String], behind: &[String], reading: &Reading, phrase: &str) -> bool {
    const LEADS: [&str; 10] =
        ["in", "during", "since", "on", "at", "by", "from", "over", "around", "throughout"];
    const PARTS: [&str; 9] =
        ["end", "start", "beginning", "middle", "as", "morning", "evening", "night", "afternoon"];
    let nth = |back: usize| before.len().checked_sub(back).map_or("", |at| before[at].as_str());
    let (last, second) = (nth(1), nth(2));
    let is_led = LEADS.contains(&last) || (last == "the" && second != "from" && LEADS.contains(&second));
    let is_relative = ["last", "this", "ago", "past"].iter().any(|word| phrase.contains(word));
    let is_long = reading.granularity >= Granularity::Month;
    let names = matches!(last, "the" | "our" | "my" | "a" | "an" | "his" | "her" | "their");
    let goes_on = behind.first().is_some_and(|word| word.chars().all(char::is_alphabetic));
    (is_long && !before.is_empty() && !is_led && !is_relative)
        || (names && !is_led && goes_on)
        || (last == "of" && before.len() > 1 && !PARTS.contains(&second))
}

/// Where the words of a passage say the day on which what it promises falls due, with the "by" or "on" before it.
pub(super) fn due_words(words: &str, dates: DateContext) -> Option<Range<usize>> {
    let day = due(words, dates)?;
    let mut readings = dates.readings(words, Lean::Future).into_iter();
    let reading = readings.find(|reading| last_moment(reading, dates.reference) == day)?;
    let before = words[..reading.range.start].trim_end();
    let lead = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let leads = ["by", "before", "until", "till", "on", "for", "at"];
    let led = leads.iter().any(|word| lead.eq_ignore_ascii_case(word));
    Some(if led { before.len() - lead.len() } else { reading.range.start }..reading.range.end)
}

/// "by mid-August (15th)", "before Friday week, 11 July": the day that is named behind a time less exact than it.
fn stated_beside(words: &str, vague: &Reading, readings: &[Reading]) -> Option<Timestamp> {
    let rest = &words[vague.range.end..];
    let apart = |gap: &str| matches!(gap.trim_start(), "," | "(" | ", " | "the " | ", the " | "(the ");
    let day = readings.iter().find(|reading| {
        reading.granularity == Granularity::Day
            && !reading.is_relative
            && words.get(vague.range.end..reading.range.start).is_some_and(apart)
    });
    if let Some(day) = day.filter(|_| vague.is_relative || vague.granularity > Granularity::Day) {
        return Some(day.deadline());
    }
    // "(15th)" in the month that was named.
    let number = rest.trim_start().strip_prefix('(')?;
    let (number, _) = number.split_once(')')?;
    let number = ["st", "nd", "rd", "th"].iter().find_map(|end| number.trim().strip_suffix(end))?;
    let month = vague.start.to_zoned(TimeZone::UTC).date();
    let day = jiff::civil::Date::new(month.year(), month.month(), number.parse().ok()?).ok()?;
    day.at(23, 59, 59, 0).to_zoned(TimeZone::UTC).ok().map(|end| end.timestamp())
}

/// "by 20 March 2026", written after that day: a limit with its year. "Before 2019" tells what is meant, not until when.
fn is_overdue(reading: &Reading) -> bool {
    let limit = match reading.relation {
        Relation::By | Relation::Until => Granularity::Quarter,
        Relation::Before => Granularity::Day,
        _ => return false,
    };
    reading.granularity <= limit && !reading.is_year_open && !reading.is_relative
}

/// "by 3pm", "before noon", "at 17:30": that time on the day it was said, or on the next where it had passed.
fn at_the_hour(words: &str, now: Timestamp) -> Option<Timestamp> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let marked = words.windows(2).position(|pair| {
        let [mark, hour] = [pair[0], pair[1]].map(|word| bare(word).to_lowercase());
        matches!(mark.as_str(), "by" | "before" | "at" | "around")
            && (matches!(hour.as_str(), "noon" | "midday" | "midnight") || is_hour(&hour))
    })?;
    // "pm" or the zone may follow.
    let hour = words[marked + 1..].iter().take(2).copied().collect::<Vec<_>>().join(" ");
    ["today", "tomorrow"].iter().find_map(|day| {
        let named = readings(&format!("{day} at {hour}"), Some(now), Lean::Future).into_iter().next()?;
        (named.granularity == Granularity::Minute && named.start >= now).then_some(named.start)
    })
}

pub(super) fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn end_of_day(now: Timestamp) -> Option<Timestamp> {
    let day = now.to_zoned(TimeZone::UTC).date();
    day.at(23, 59, 59, 0).to_zoned(TimeZone::UTC).ok().map(|end| end.timestamp())
}

/// "before lunch", "by five", "this afternoon", "give me 20 min".
fn is_within_the_day(words: &str) -> bool {
    let words: Vec<&str> = words.split_whitespace().collect();
    (1..words.len()).any(|at| {
        let [mark, time] = [words[at - 1], words[at]].map(|word| bare(word).to_lowercase());
        match (mark.as_str(), time.as_str()) {
            (
                "before" | "by",
                "lunch" | "noon" | "midday" | "midnight" | "closing" | "dinner" | "five" | "six",
            )
            | ("this", "afternoon" | "evening" | "morning") => true,
            ("before" | "by" | "after" | "at" | "around", time) => {
                is_hour(time) && counts_nothing(&words[at..])
            }
            (_, "min" | "mins" | "minutes") => mark.parse::<u16>().is_ok(),
            _ => false,
        }
    })
}

/// "at 5", "by 5 today", "at 17:00 in the hall": not "after 5 December", "before 2 trucks arrive", "at 7 bar".
fn counts_nothing(words: &[&str]) -> bool {
    const BEHIND: [&str; 8] = ["today", "tonight", "sharp", "latest", "if", "so", "o'clock", "o’clock"];
    let is_bare = bare(words[0]).bytes().all(|byte| byte.is_ascii_digit());
    let ends = words[0].ends_with(|c: char| !c.is_alphanumeric());
    !is_bare || ends || words.get(1).is_none_or(|next| BEHIND.contains(&bare(next).to_lowercase().as_str()))
}

/// "5", "17:00", "5pm".
pub(super) fn is_hour(word: &str) -> bool {
    let bare = word.trim_end_matches("am").trim_end_matches("pm");
    let (hour, minute) = bare.split_once([':', '.']).unwrap_or((bare, "00"));
    let clocked = bare.len() < word.len() || bare.contains(':');
    minute.len() == 2
        && minute.parse::<u8>().is_ok_and(|minute| minute < 60)
        && hour.parse::<u8>().is_ok_and(|hour| hour < if clocked { 24 } else { 13 })
}
