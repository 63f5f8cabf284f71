//! What single words of a narrative are: verbs of doing, dates, tickets, or nothing that identifies a matter.

use memory_language::calendar_words::{CalendarWord, Spelling, calendar_word};
use memory_language::lexicon::english_stem;

/// Stems of verbs that are done with any matter.
pub(super) const VERBS: [&str; 46] = [
    "send",
    "ship",
    "deliv",
    "finish",
    "complet",
    "do",
    "make",
    "prepar",
    "provid",
    "write",
    "review",
    "updat",
    "creat",
    "work",
    "get",
    "put",
    "submit",
    "share",
    "publish",
    "post",
    "upload",
    "handl",
    "resolv",
    "close",
    "implement",
    "merg",
    "deploy",
    "take",
    "bring",
    "give",
    "check",
    "present",
    "build",
    "fix",
    "add",
    "set",
    "sign",
    "run",
    "draft",
    "confirm",
    "readi",
    "wrap",
    "cancel",
    "drop",
    "scrap",
    "abandon",
];

/// The stem of a word, of irregular verbs that of their present.
pub(super) fn root_of(word: &str) -> String {
    const IRREGULAR: [(&str, &str); 61] = [
        ("sent", "send"),
        ("wrote", "write"),
        ("written", "write"),
        ("made", "make"),
        ("did", "do"),
        ("took", "take"),
        ("taken", "take"),
        ("brought", "bring"),
        ("gave", "give"),
        ("given", "give"),
        ("built", "build"),
        ("got", "get"),
        ("ran", "run"),
        ("drew", "draw"),
        ("drawn", "draw"),
        ("paid", "pay"),
        ("bought", "buy"),
        ("told", "tell"),
        ("found", "find"),
        ("sold", "sell"),
        ("kept", "keep"),
        ("met", "meet"),
        ("spoke", "speak"),
        ("chose", "choose"),
        ("chosen", "choose"),
        ("drove", "drive"),
        ("driven", "drive"),
        ("went", "go"),
        ("left", "leave"),
        ("held", "hold"),
        ("lent", "lend"),
        ("hung", "hang"),
        ("swept", "sweep"),
        ("dug", "dig"),
        ("shown", "show"),
        ("taught", "teach"),
        ("rang", "ring"),
        ("rung", "ring"),
        ("saw", "see"),
        ("seen", "see"),
        ("gone", "go"),
        ("came", "come"),
        ("done", "do"),
        ("spent", "spend"),
        ("fed", "feed"),
        ("flew", "fly"),
        ("flown", "fly"),
        ("tore", "tear"),
        ("torn", "tear"),
        ("rode", "ride"),
        ("led", "lead"),
        ("sewed", "sew"),
        ("sewn", "sew"),
        ("mown", "mow"),
        ("caught", "catch"),
        ("sang", "sing"),
        ("sung", "sing"),
        ("froze", "freeze"),
        ("frozen", "freeze"),
        ("hid", "hide"),
        ("dealt", "deal"),
    ];
    match IRREGULAR.iter().find(|(past, _)| *past == word) {
        Some((_, present)) => english_stem(present),
        None => english_stem(word),
    }
}

/// When something is due, how sure it is, and what promises are made with.
pub(super) fn says_nothing(word: &str) -> bool {
    const WORDS: [&str; 55] = [
        "shall",
        "must",
        "may",
        "agreed",
        "agrees",
        "promised",
        "promises",
        "committed",
        "commits",
        "going",
        "need",
        "needs",
        "want",
        "wants",
        "today",
        "tomorrow",
        "yesterday",
        "tonight",
        "morning",
        "afternoon",
        "evening",
        "noon",
        "week",
        "weeks",
        "day",
        "days",
        "month",
        "months",
        "quarter",
        "year",
        "end",
        "eod",
        "next",
        "last",
        "ago",
        "soon",
        "later",
        "already",
        "now",
        "just",
        "also",
        "finally",
        "successfully",
        "before",
        "after",
        "until",
        "within",
        "again",
        "all",
        "has",
        "ready",
        "yes",
        "yeah",
        "ok",
        "okay",
    ];
    let is_weekday = matches!(calendar_word(word), Some((CalendarWord::Weekday(_), Spelling::Full)));
    WORDS.contains(&word) || is_weekday || is_month(word)
}

pub(super) fn is_month(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    matches!(calendar_word(&bare), Some((CalendarWord::Month(_), Spelling::Full | Spelling::Short)))
}

/// The month, day of the week or season that says which of several a matter is: "the October invoice", "the rent for May". When it
/// is due, or was done, is none: "by Friday", "in May", "3 May".
pub(super) fn period_of_matter(runs: &[&str], at: usize) -> Option<String> {
    const LEADS: [&str; 19] = [
        "by", "on", "before", "until", "till", "at", "in", "next", "this", "last", "since", "from", "due",
        "of", "after", "during", "every", "and", "or",
    ];
    let bare = |at: usize| runs[at].trim_matches(|c: char| !c.is_alphanumeric());
    let word = bare(at).trim_end_matches("'s").trim_end_matches("’s");
    let lower = word.to_lowercase();
    let is_season = matches!(lower.as_str(), "spring" | "summer" | "autumn" | "winter");
    let is_named = word.starts_with(char::is_uppercase)
        && matches!(
            calendar_word(&lower),
            Some((CalendarWord::Weekday(_) | CalendarWord::Month(_), Spelling::Full))
        );
    let before = at.checked_sub(1).map(bare)?.to_lowercase();
    let is_number = |at: Option<&&str>| at.is_some_and(|run| run.starts_with(|c: char| c.is_ascii_digit()));
    let is_day = is_number(runs.get(at + 1)) || before.starts_with(|c: char| c.is_ascii_digit());
    let ends = runs[at - 1].ends_with([',', '.', ';', ':']);
    ((is_season || is_named) && !is_day && !ends && !LEADS.contains(&before.as_str())).then_some(lower)
}

/// A day of a month at the end of what is said, "before the 24th": not "the 3rd draft".
pub(super) fn is_day_of_month(runs: &[&str], at: usize) -> bool {
    let bare = |run: &str| run.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let day = bare(runs[at]);
    let number = day.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let is_ordinal = matches!(&day[number.len()..], "st" | "nd" | "rd" | "th")
        && number.parse::<u8>().is_ok_and(|number| (1..=31).contains(&number));
    let ends = runs[at].ends_with([',', '.', ';', ':', '!', ')']);
    let goes_on = |next: &&str| {
        matches!(bare(next).as_str(), "of" | "at" | "in" | "and" | "or" | "to") || is_month(next)
    };
    is_ordinal && (ends || runs.get(at + 1).is_none_or(goes_on))
}

/// `2026-03-21`, `3/21`, `21.03.2026`.
pub(super) fn is_date(run: &str) -> bool {
    let parts: Vec<&str> = run.split(['-', '/', '.', 'T']).collect();
    let digits =
        |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit() || c == ':' || c == 'Z');
    parts.len() >= 2
        && parts.iter().all(digits)
        && (parts.len() == 3 || run.contains('/') || run.contains('T'))
}

/// `APO-12` or `#42`.
pub(super) fn is_ticket(run: &str) -> bool {
    let numbered = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if let Some(number) = run.strip_prefix('#') {
        return numbered(number);
    }
    run.split_once('-').is_some_and(|(project, number)| {
        let letters = project.chars().next().is_some_and(|c| c.is_ascii_uppercase());
        let plain = project.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        letters && plain && project.len() >= 2 && numbered(number)
    })
}
