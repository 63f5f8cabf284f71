//! The time a question asks about, as a hint: what lies in it is preferred, what lies elsewhere is not left out.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use super::ahead::{asks_what_comes, is_of_the_present, is_to_be_done, looks_ahead};
use super::asked::{TOLD, is_any, words, words_before};
use super::calendar::{date_of, day_start, plus_days};
use super::no_time::is_no_time;
use super::other_languages::translated;
use super::parser::Parser;
use super::states;
use super::window::DECIDES_FROM;
pub use super::window::{BELONGS_FROM, QuestionTime, Window};
use super::words::{Tag, tag};
use super::{Granularity, Lean, Reading, Relation};
use crate::calendar_words::{CalendarWord, calendar_word};
use crate::lexicon::is_function_word;
use crate::tense::{Tense, tells_of_done};

/// More of a question is not looked at, in characters.
const MAX_CHARS: usize = 2_000;
/// How far before a date the word "before" may be, as in "before the big launch in May".
const WORDS_BACK: usize = 6;
/// A date without a year that was longer ago than this is one of the next months where the question is of the present.
const LONG_AGO: SignedDuration = SignedDuration::from_hours(24 * 270);
/// What has to be done is done by a day not farther ahead than this.
const NEAR: SignedDuration = SignedDuration::from_hours(24 * 45);
/// How sure it is that "before the launch in May" means May.
const FAR: f32 = 0.5;
/// How sure "recently" is, and "in autumn" where nothing is said to have happened then.
const VAGUE: f32 = 0.4;
/// How far before a feast the word may be that makes it the topic: "ideas for Mia's Easter costume".
const TOPIC_WORDS_BACK: usize = 4;
const PRESENT: [&str; 15] = [
    "should", "can", "could", "is", "are", "am", "do", "does", "need", "must", "will", "would", "may",
    "shall", "s",
];
/// Whose a feast or a month is that names something else.
const OWNERS: [&str; 10] = ["the", "a", "an", "my", "our", "your", "his", "her", "their", "s"];
/// What leads the topic of a question.
const TOPIC_LEADS: [&str; 4] = ["for", "about", "regarding", "concerning"];
const PLANS: [&str; 10] = [
    "plan",
    "plans",
    "planned",
    "planning",
    "schedule",
    "scheduled",
    "deadline",
    "upcoming",
    "appointment",
    "agenda",
];

/// The time that a question asked at `now` is about; `None` where it names none.
///
/// A question *for* a time ("when did …", "what date …") names none by that, nor by "last week" and the like, but
/// still may by a date: "When did we meet in May 2023?".
pub fn question_window(question: &str, now: Timestamp) -> Option<QuestionTime> {
    let question = question.char_indices().nth(MAX_CHARS).map_or(question, |(end, _)| &question[..end]);
    let translated = translated(question);
    let Some(translated) = translated else { return window_in_english(question, now) };
    let mut time = window_in_english(&translated.text, now)?;
    for window in &mut time.windows {
        window.phrase = translated.source(&window.phrase);
    }
    Some(time)
}

fn window_in_english(question: &str, now: Timestamp) -> Option<QuestionTime> {
    let lean = if looks_ahead(question) { Lean::Future } else { Lean::Past };
    let mut readings = Parser::new(question, Some(now), lean, true).readings();
    let is_soon = lean == Lean::Past && read_long_ago_as_soon(question, now, &mut readings);
    let sure = readings.iter().any(|reading| !reading.is_relative && !reading.is_year_open);
    let asks_for_time = asks_for_time(question);
    if sure || asks_for_time {
        readings.retain(|reading| !reading.is_relative);
    }
    readings.retain(|reading| !is_feast_talked_of(question, reading) && !is_no_time(question, reading));
    let mut windows: Vec<Window> =
        readings.iter().flat_map(|reading| windows_of(question, reading)).collect();
    // "Who is here today?" is of more than what was written today.
    let is_told = words(question).any(|word| is_any(word, &TOLD));
    let is_present =
        !is_told && (words(question).any(|word| is_any(word, &PRESENT)) || is_of_the_present(question));
    let asks_what_comes = (is_soon || asks_what_comes(question)) && !is_told;
    for window in &mut windows {
        if asks_what_comes {
            window.look_ahead(now);
        }
        let lasts = window.start.is_some_and(|start| start <= now) && window.end.is_some_and(|end| now < end);
        window.decides &= !(asks_for_time || lasts && is_present && !window.is_to_come);
    }
    (!windows.is_empty()).then_some(QuestionTime { windows })
}

/// "Who is on call from December?", asked in November: takes the coming one. Says whether there is such a date.
fn read_long_ago_as_soon(question: &str, now: Timestamp, readings: &mut [Reading]) -> bool {
    let is_long_ago = |reading: &Reading| {
        // "Since December" began, "from December on" may not have.
        let is_since = reading.relation == Relation::Since && !is_from(question, reading);
        reading.is_year_open && !is_since && now.duration_since(reading.end) > LONG_AGO
    };
    if !readings.iter().any(is_long_ago) {
        return false;
    }
    let (is_present, is_to_be_done) = (is_of_the_present(question), is_to_be_done(question));
    if !is_present && !is_to_be_done {
        return false;
    }
    let coming = Parser::new(question, Some(now), Lean::Future, true).readings();
    let mut is_soon = false;
    for reading in readings.iter_mut().filter(|reading| is_long_ago(reading)) {
        let is_meant = |next: &&Reading| {
            next.range == reading.range && (is_present || next.start.duration_since(now) < NEAR)
        };
        if let Some(next) = coming.iter().find(is_meant) {
            *reading = next.clone();
            is_soon = true;
        }
    }
    is_soon
}

fn is_from(question: &str, reading: &Reading) -> bool {
    let first = words(&question[reading.range.clone()]).next().unwrap_or("");
    is_any(first, &["from"])
        || words_before(question, reading).next().is_some_and(|word| is_any(word, &["from"]))
}

fn asks_for_time(question: &str) -> bool {
    const VERBS: [&str; 22] = [
        "did", "was", "is", "are", "were", "will", "has", "have", "had", "do", "does", "should", "would",
        "can", "could", "s", "exactly", "might", "may", "must", "shall", "in",
    ];
    const TIMES: [&str; 7] = ["date", "day", "month", "year", "time", "week", "weekday"];
    let mut words = words(question).peekable();
    let mut first = true;
    while let Some(word) = words.next() {
        let next = words.peek().copied().unwrap_or("");
        let asks = (first && is_any(word, &["when"]) && is_any(next, &VERBS))
            || (is_any(word, &["what", "which"]) && is_any(next, &TIMES))
            || (is_any(word, &["since"]) && is_any(next, &["when"]))
            || (is_any(word, &["how"]) && is_any(next, &["long", "soon"]));
        if asks {
            return true;
        }
        first = false;
    }
    false
}

fn windows_of(question: &str, reading: &Reading) -> Vec<Window> {
    let (about_start, about_end) = about(reading);
    let (start, end) = (Some(about_start), Some(about_end));
    let far = far_relation(question, reading).or_else(|| relation_to_named(question, reading));
    // "What is due next week?" is of that week, unlike "by next week".
    let before = words_before(question, reading).next().unwrap_or("");
    let is_due =
        reading.relation == Relation::By && is_any(before, &["due", "deadline", "on", "for", "in", "is"]);
    let own = if is_due { Relation::At } else { reading.relation };
    let (start, end) = match far.unwrap_or(own) {
        Relation::At | Relation::From => (start, end),
        // The launch in May is somewhere in it, and so is what was before.
        Relation::Before if far.is_some() => (None, end),
        Relation::After if far.is_some() => (start, None),
        Relation::Before => (None, start),
        Relation::By | Relation::Until => (None, end),
        Relation::After => (end, None),
        Relation::Since => (start, None),
    };
    let is_closed = start.is_some() && end.is_some();
    let certainty = if far.is_some() { FAR } else { certainty(question, reading) };
    // "Before March" and "since Monday" tell when; "by Friday" is until when something is to be done.
    let is_open = matches!(reading.relation, Relation::Before | Relation::After | Relation::Since);
    let decides = (is_closed || is_open) && certainty >= DECIDES_FROM && !is_topic(question, reading);
    let window = Window {
        start,
        end,
        granularity: reading.granularity,
        certainty,
        is_recurring: reading.is_year_open && is_closed,
        phrase: reading.range.clone(),
        decides,
        is_of_state: reading.granularity >= Granularity::Month
            && is_closed
            && states::asks_of_state(question),
        is_to_come: false,
    };
    let other = reading.is_ambiguous.then(|| other_order(reading.start)).flatten();
    let other = other.map(|(start, end)| Window {
        start: window.start.map(|_| start),
        end: window.end.map(|_| end),
        ..window.clone()
    });
    [Some(window), other].into_iter().flatten().collect()
}

/// The time that a date is about: "two weeks ago" is some days, though one is read.
fn about(reading: &Reading) -> (Timestamp, Timestamp) {
    let days = match reading.granularity {
        Granularity::Week => 3,
        Granularity::Month => 15,
        Granularity::Quarter => 45,
        Granularity::Year => 183,
        Granularity::Decade => 1_826,
        _ => 0,
    };
    let is_one_day = reading.end.duration_since(reading.start) <= SignedDuration::from_hours(24);
    let by = SignedDuration::from_hours(if is_one_day { 24 * days } else { 0 });
    let start = reading.start.checked_sub(by).unwrap_or(reading.start);
    (start, reading.end.checked_add(by).unwrap_or(reading.end))
}

/// How sure it is that the question means this time.
fn certainty(question: &str, reading: &Reading) -> f32 {
    let phrase = &question[reading.range.clone()];
    let is_coarse = reading.granularity > Granularity::Week;
    let has_vague_count = || words(phrase).any(|word| is_any(word, &["few", "several", "couple"]));
    let is_about = || about(reading) != (reading.start, reading.end);
    match () {
        () if is_any(phrase, &["recently", "lately"]) || is_mere_season(question, reading) => VAGUE,
        // "the budget 2024": a number beside another word.
        () if phrase.len() == 4
            && phrase.bytes().all(|b| b.is_ascii_digit())
            && !is_led(question, reading) =>
        {
            0.5
        }
        () if reading.is_ambiguous || has_vague_count() || is_about() => 0.7,
        () if reading.is_year_open => {
            if is_coarse {
                0.85
            } else {
                0.9
            }
        }
        () if reading.is_relative => {
            if is_coarse {
                0.9
            } else {
                0.95
            }
        }
        () => 1.0,
    }
}

fn is_led(question: &str, reading: &Reading) -> bool {
    reading.relation != Relation::At
        || words_before(question, reading).next().is_some_and(|word| {
            is_any(
                word,
                &["in", "during", "of", "around", "between", "throughout", "year", "on", "for", "through"],
            )
        })
}

/// "Wrong clock in autumn", but not "what did we plant in autumn?", "what will we plant in autumn?".
fn is_mere_season(question: &str, reading: &Reading) -> bool {
    let is_season = is_tagged(question, reading, |tag| matches!(tag, Tag::Season(_)));
    let is_told = || tells_of_done(question) || Tense::has_past(question);
    is_season && reading.is_year_open && !is_told() && !looks_ahead(question)
}

/// "What did she say about Christmas?", "plans for Easter": a feast without its year that is the topic and no time.
fn is_feast_talked_of(question: &str, reading: &Reading) -> bool {
    if !reading.is_year_open || !is_feast(question, reading) {
        return false;
    }
    if names_what_a_feast_has(question, reading) {
        return true;
    }
    let lead = words_before(question, reading).take(TOPIC_WORDS_BACK).find(|word| {
        is_any(word, &TOPIC_LEADS)
            || is_any(
                word,
                &["at", "on", "over", "in", "during", "since", "before", "after", "until", "by", "to"],
            )
    });
    lead.is_some_and(|word| is_any(word, &TOPIC_LEADS))
}

/// "When does the Christmas concert begin?", "who came to the Christmas party?": it may be weeks before; but not "over the Christmas holidays".
fn names_what_a_feast_has(question: &str, reading: &Reading) -> bool {
    const TIMES: [&str; 9] =
        ["holiday", "holidays", "break", "vacation", "week", "weekend", "days", "period", "season"];
    let is_owned = words_before(question, reading).next().is_some_and(|word| is_any(word, &OWNERS));
    let next = words(&question[reading.range.end..]).next().unwrap_or("");
    let goes_on = question[reading.range.end..].starts_with(' ') && !next.is_empty();
    is_owned && goes_on && !is_function_word(next) && !is_any(next, &TIMES)
}

fn is_feast(question: &str, reading: &Reading) -> bool {
    is_tagged(question, reading, |tag| matches!(tag, Tag::Holiday(_)))
}

/// Whether a word of the date is of a kind.
fn is_tagged(question: &str, reading: &Reading, is_kind: impl Fn(Tag) -> bool) -> bool {
    words(&question[reading.range.clone()]).any(|word| is_kind(tag(&word.to_ascii_lowercase())))
}

/// The date is what is talked of, rather than when: "plans for June", "the September release".
fn is_topic(question: &str, reading: &Reading) -> bool {
    let mut before = words_before(question, reading);
    let first = before.next().unwrap_or("");
    let second = before.next().unwrap_or("");
    let owned = is_any(first, &OWNERS);
    let lead = if is_any(first, &["the"]) { second } else { first };
    if is_any(lead, &TOPIC_LEADS) {
        return true;
    }
    let phrase = &question[reading.range.clone()];
    let named = words(phrase).next().is_some_and(|word| {
        let is_year = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
        let word = word.to_ascii_lowercase();
        is_year || matches!(calendar_word(&word), Some((CalendarWord::Month(_), _)))
    });
    if owned && named && !reading.is_relative {
        return true;
    }
    // "the Monday standup".
    if owned && matches!(calendar_word(&phrase.to_ascii_lowercase()), Some((CalendarWord::Weekday(_), _))) {
        return true;
    }
    // "Her plans in June" may have been made before, what was planned yesterday was not.
    let is_coarse = reading.granularity >= Granularity::Month && !reading.is_relative;
    is_coarse && words(question).any(|word| is_any(word, &PLANS))
}

/// "before the launch in May": the word that says how an event lies to what is asked, not to its date.
fn far_relation(question: &str, reading: &Reading) -> Option<Relation> {
    if reading.relation != Relation::At {
        return None;
    }
    let clause = question[..reading.range.start].rsplit([',', ';', '.', '?', '!']).next()?;
    let mut back = words(clause).rev().take(WORDS_BACK);
    if !is_any(back.next()?, &["in", "on", "of", "at", "during", "the"]) {
        return None;
    }
    back.find_map(|word| match word.to_ascii_lowercase().as_str() {
        "before" => Some(Relation::Before),
        "until" => Some(Relation::Until),
        "after" => Some(Relation::After),
        "since" => Some(Relation::Since),
        _ => None,
    })
}

/// "before the December freeze": in relation to what has its name of a month, not to the month.
fn relation_to_named(question: &str, reading: &Reading) -> Option<Relation> {
    let mut phrase = words(&question[reading.range.clone()]).rev();
    let is_month =
        |word: &str| matches!(calendar_word(&word.to_ascii_lowercase()), Some((CalendarWord::Month(_), _)));
    let is_named =
        phrase.next().is_some_and(is_month) && phrase.next().is_none_or(|word| is_any(word, &["the"]));
    let rest = &question[reading.range.end..];
    let goes_on = rest.starts_with(' ')
        && words(rest).next().is_some_and(|word| !is_function_word(&word.to_lowercase()));
    let is_owned =
        || words_before(question, reading).next().is_some_and(|word| is_any(word, &["the", "our", "my"]));
    (is_named && goes_on && is_owned() && reading.relation != Relation::At).then_some(reading.relation)
}

/// 3 April where 4 March was read.
fn other_order(start: Timestamp) -> Option<(Timestamp, Timestamp)> {
    let read = date_of(start);
    let other = Date::new(read.year(), read.day(), read.month()).ok()?;
    Some((day_start(other)?, day_start(plus_days(other, 1)?)?))
}
