//! What comes by itself and is promised by nobody: "Rain will reach the coast", "The shop will close at noon", "Anna will be forty on
//! Saturday", "UAT begins 1 December".

use std::ops::Range;

use memory_language::calendar_words::calendar_word;
use memory_language::time::{Lean, Reading, Relation};

use super::super::parsed_segment::ParsedSegment;
use super::super::words::Kind;
use super::super::{cues, draft, lists, verbs};
use super::clauses::Candidate;

/// The same day of the year before is longer ago than anybody tells without the year.
const NEAR_HOURS: i64 = 24 * 90;
/// A subject is no longer.
const SUBJECT_TOKENS: usize = 10;
/// The weather, the sky, seasons and markets: whatever they will do, nobody does it.
const NATURE: [&str; 38] = [
    "rain",
    "snow",
    "sun",
    "moon",
    "wind",
    "winds",
    "storm",
    "frost",
    "fog",
    "ice",
    "hail",
    "thunder",
    "weather",
    "temperature",
    "temperatures",
    "tide",
    "tides",
    "river",
    "sea",
    "clouds",
    "comet",
    "eclipse",
    "stars",
    "spring",
    "summer",
    "autumn",
    "winter",
    "days",
    "nights",
    "leaves",
    "price",
    "prices",
    "costs",
    "rents",
    "inflation",
    "rates",
    "wages",
    "queues",
];
/// What things do without anybody who is said to do it.
const BY_ITSELF: [&str; 26] = [
    "arrive", "begin", "bloom", "close", "decrease", "depart", "drop", "end", "expire", "fall", "flower",
    "freeze", "increase", "land", "lapse", "last", "melt", "open", "peak", "resume", "ripen", "rise", "set",
    "sink", "start", "thaw",
];
/// The same with a word behind them: "go off", "come up", "run out".
const WITH_A_WORD: [(&str, &[&str]); 5] = [
    ("go", &["up", "down", "off", "out", "bad", "sour", "stale"]),
    ("come", &["up", "out", "down"]),
    ("run", &["out", "until", "from"]),
    ("take", &["place"]),
    ("turn", &["cold", "warm", "red", "brown", "sour"]),
];
/// What follows a verb that has no object.
const BEHIND: [&str; 26] = [
    "again", "and", "around", "at", "before", "but", "by", "during", "early", "earlier", "every", "for",
    "from", "in", "late", "later", "next", "on", "over", "soon", "this", "today", "tomorrow", "tonight",
    "until", "within",
];
const NUMBERS: [&str; 20] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "eighteen",
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];

/// Whether a clause tells of what happens by itself.
pub(super) fn is_happening(parsed: &ParsedSegment<'_>, candidate: &Candidate, head: usize) -> bool {
    let text = &parsed.text;
    let tokens = head.max(candidate.tokens.start)..candidate.tokens.end;
    let near = tokens.start..tokens.end.min(tokens.start + SUBJECT_TOKENS);
    let will = near.clone().find(|at| {
        text.is_any(*at, &["will", "'ll", "shall"])
            || (text.word(*at) == "going" && text.word(at + 1) == "to")
    });
    let Some(will) = will else {
        let verb = near.skip(1).find(|at| verbs::is_finite(text.word(*at)) || is_timetable(text.word(*at)));
        return verb.is_some_and(|verb| {
            is_timetable(text.word(verb)) && has_no_object(parsed, verb + 1, tokens.end) && {
                let subject = tokens.start..verb;
                is_thing(parsed, &subject)
            }
        });
    };
    let going = text.word(will) == "going";
    let subject = tokens.start..will.saturating_sub(usize::from(going && will > tokens.start));
    let verb = will + 1 + usize::from(going);
    let verb = verb + usize::from(text.is_any(verb, &["also", "then", "now", "probably", "likely", "only"]));
    is_of_an_age(parsed, verb)
        || is_of_nature(parsed, &subject)
        || (is_thing(parsed, &subject) && comes_by_itself(parsed, verb, tokens.end))
}

/// "Go-live of v1 on 8 December.", said in November: a day that is near, and no verb that says that it is over. "The scanner's being
/// serviced on the 20th": told in the present as arranged.
pub(super) fn is_of_a_day_to_come(parsed: &ParsedSegment<'_>, candidate: &Candidate) -> bool {
    let text = &parsed.text;
    let bytes = text.bytes(&candidate.tokens);
    let dates = parsed.dates_at(bytes.start);
    let words = &text.raw[bytes];
    if draft::arranged_day(words, dates).is_some() {
        return true;
    }
    let tells = |at: usize| {
        let word = text.word(at);
        verbs::is_finite(word) || verbs::of(word).is_some_and(|verb| verb.past)
    };
    if candidate.sentence.clone().any(tells) {
        return false;
    }
    let Some(now) = dates.reference else { return false };
    let is_near = |reading: &Reading| {
        let hours = reading.start.duration_since(now).as_hours();
        reading.is_year_open && reading.relation == Relation::At && (0..NEAR_HOURS).contains(&hours)
    };
    dates.readings(words, Lean::Future).iter().any(is_near)
}

/// "begins", "opens", "lands": what timetables say.
fn is_timetable(word: &str) -> bool {
    matches!(
        word,
        "begins" | "starts" | "opens" | "closes" | "ends" | "lands" | "departs" | "arrives" | "expires"
    )
}

/// "will be forty", "will turn 18 on Saturday".
fn is_of_an_age(parsed: &ParsedSegment<'_>, verb: usize) -> bool {
    let text = &parsed.text;
    let is_number = text.kind(verb + 1) == Some(Kind::Number) || NUMBERS.contains(&text.word(verb + 1));
    let behind = verb + 2;
    let closes = text.word(behind).is_empty()
        || text.is_any(behind, &["on", "in", ".", ",", "!", "next", "this", "tomorrow", "today", "years"])
        || calendar_word(text.word(behind)).is_some();
    text.is_any(verb, &["be", "turn"]) && is_number && closes
}

/// "Rain", "the sun", "house prices": what is spoken of is no one's doing.
fn is_of_nature(parsed: &ParsedSegment<'_>, subject: &Range<usize>) -> bool {
    let text = &parsed.text;
    let Some(last) = subject.clone().last() else { return false };
    // "Stella Rain" has a first name, "Summer" with none other is one.
    let is_named = last > subject.start && text.is_capitalised(last) && text.is_capitalised(last - 1);
    let is_plain = subject.len() > 1 || !matches!(text.word(last), "summer" | "autumn" | "spring" | "ice");
    NATURE.contains(&text.word(last)) && is_plain && !is_named
}

fn comes_by_itself(parsed: &ParsedSegment<'_>, verb: usize, end: usize) -> bool {
    let text = &parsed.text;
    let word = text.word(verb);
    let pair = WITH_A_WORD.iter().find(|(first, seconds)| *first == word && text.is_any(verb + 1, seconds));
    if pair.is_some() {
        return has_no_object(parsed, verb + 2, end);
    }
    BY_ITSELF.contains(&word) && has_no_object(parsed, verb + 1, end)
}

fn has_no_object(parsed: &ParsedSegment<'_>, at: usize, end: usize) -> bool {
    let text = &parsed.text;
    at >= end
        || !text.is_word(at)
        || BEHIND.contains(&text.word(at))
        || calendar_word(text.word(at)).is_some()
        || text.kind(at) == Some(Kind::Number)
}

/// Whether what is spoken of can promise nothing: no person, body, group or office.
fn is_thing(parsed: &ParsedSegment<'_>, subject: &Range<usize>) -> bool {
    const SOMEONE: [&str; 22] = [
        "i",
        "we",
        "he",
        "she",
        "they",
        "you",
        "who",
        "which",
        "that",
        "someone",
        "somebody",
        "anyone",
        "everyone",
        "everybody",
        "nobody",
        "people",
        "both",
        "all",
        "and",
        "to",
        "brother",
        "sister",
    ];
    let text = &parsed.text;
    let Some(last) = subject.clone().last() else { return false };
    let word = text.word(last);
    let is_body = |word: &str| {
        cues::is_role(word)
            || lists::OTHER_PEOPLE.contains(word)
            || lists::PUBLIC.contains(word)
            || lists::ACTING_BODIES.contains(word)
            || lists::DEPARTMENTS.contains(word)
            || lists::TEAMS.contains(word)
    };
    let is_agent =
        word.len() > 5 && ["er", "ers", "or", "ors", "ist", "ian"].iter().any(|end| word.ends_with(end));
    let is_spoken_of = parsed.mention(last).is_some_and(super::super::parsed_segment::Mention::can_act);
    text.is_word(last) && !SOMEONE.contains(&word) && !is_body(word) && !is_agent && !is_spoken_of
}
