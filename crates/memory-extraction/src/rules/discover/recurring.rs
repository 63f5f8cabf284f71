//! Names of people that no list has, by what is said of them over the whole text.

use std::collections::HashMap;
use std::ops::Range;

use super::super::lists;
use super::super::names;
use super::super::people::Sightings;
use super::super::verbs::{self, Class};
use super::super::words::{Kind, Text, spaced};

/// A name that is seen so often and once as people are is one.
const OFTEN: usize = 5;
/// More words than this are not weighed.
const NAMES_MAX: usize = 5_000;
/// Given names have at most so many words before and with the last name.
const WORDS_MAX: usize = 3;

/// What people do and things do not, after their name.
const HUMAN_ACTS: [&str; 24] = [
    "reckons",
    "thinks",
    "hopes",
    "worries",
    "prefers",
    "laughed",
    "laughs",
    "smiled",
    "nodded",
    "sighed",
    "walked",
    "replied",
    "reckoned",
    "thought",
    "hoped",
    "felt",
    "feels",
    "apologised",
    "apologized",
    "joked",
    "promises",
    "believes",
    "admitted",
    "insisted",
];
/// What people mostly do, after their name.
const LIKELY_ACTS: [&str; 32] = [
    "rates", "finds", "found", "knows", "wants", "joins", "leaves", "left", "steps", "stepped", "stands",
    "commits", "takes", "took", "hands", "handed", "handles", "spent", "covers", "chairs", "tried", "sat",
    "rolled", "says", "had", "starts", "leads", "runs", "likes", "asks", "presents", "called",
];
/// Verbs before "said W", as in told stories.
const SAID: [&str; 12] = [
    "said",
    "says",
    "replied",
    "asked",
    "whispered",
    "murmured",
    "laughed",
    "shouted",
    "muttered",
    "sighed",
    "answered",
    "cried",
];
/// Words before "to W" and "with W" that lead to people.
const MET: [&str; 22] = [
    "ask", "asked", "chat", "chatted", "coffee", "dinner", "goes", "handed", "handing", "hands", "lunch",
    "met", "over", "paired", "pass", "passes", "sat", "spoke", "speak", "talk", "talked", "walked",
];

/// What was seen of a name.
#[derive(Default)]
struct Signs {
    count: usize,
    /// Which kinds of signs there are that it is a person, one bit each.
    kinds: u16,
    sure: bool,
    /// It stands as things do: "the Corvane", "Corvane 3.2".
    thing: bool,
}

const DID: u16 = 1;
const WAS_ASKED: u16 = 2;
const BESIDE_A_NAME: u16 = 4;
const WITH_OTHERS: u16 = 8;
const IN_BRACKETS: u16 = 16;
const OWNS: u16 = 32;
const IS_MEANT_BY_PRONOUN: u16 = 64;
const SPEAKS: u16 = 128;

/// People by unknown names: thanked or asked, from a team, with a role, doing what people do.
pub(in super::super) fn see_recurring(text: &Text<'_>, hidden: &[Range<usize>], seen: &mut Sightings) {
    let mut hidden = hidden.iter().peekable();
    let mut signs: HashMap<&str, Signs> = HashMap::new();
    let mut order = Vec::new();
    let mut at = 0;
    while at < text.tokens.len() {
        let start = text.tokens[at].start;
        while hidden.peek().is_some_and(|range| range.end <= start) {
            hidden.next();
        }
        let length =
            if hidden.peek().is_some_and(|range| range.start <= start) { 0 } else { unknown_name(text, at) };
        if length == 0 {
            at += 1;
            continue;
        }
        let tokens = at..at + length;
        at = tokens.end;
        let raw = &text.raw[text.bytes(&tokens)];
        if let Some(handle) = address_beside(text, at) {
            seen.see_name(raw);
            seen.see_handle_of(handle, Some(raw));
            continue;
        }
        if !signs.contains_key(raw) {
            if order.len() >= NAMES_MAX {
                continue;
            }
            order.push(raw);
        }
        let signs = signs.entry(raw).or_default();
        signs.count += 1;
        signs.take(text, &tokens);
    }
    let acts = |name: &str| signs.get(name).is_some_and(|signs| signs.kinds > 0 && !signs.thing);
    for name in order {
        // "Dilys Merriman stands in … Dilys briefs them": who is called by the first name.
        let called = name
            .split_once(' ')
            .is_some_and(|(first, _)| acts(first) || (acts(name) && signs.contains_key(first)));
        let signs = &signs[name];
        // Two words that are no others are half a sign already.
        let often = signs.kinds > 0 && signs.count >= if name.contains(' ') { 2 } else { OFTEN };
        if !signs.thing && (signs.sure || often || called || signs.kinds.count_ones() > 1) {
            seen.see_name(name);
        }
    }
}

/// The handle in "Zork Vrba (@zork)", "Zork Vrba @zork"; empty for an address.
fn address_beside<'a>(text: &Text<'a>, at: usize) -> Option<&'a str> {
    let inner = at + usize::from(text.is_any(at, &["(", "<", "["]));
    match text.kind(inner) {
        Some(Kind::Handle) => Some(text.raw_word(inner)),
        Some(Kind::Email) if inner > at => Some(""),
        _ => None,
    }
}

/// How many words the unknown name has that begins here and stands for itself; 0 for none.
fn unknown_name(text: &Text<'_>, at: usize) -> usize {
    let capital = |at: usize| text.is_capitalised(at) && text.raw_word(at).len() > 1;
    // "Thanks Wen": a word before it that opens the sentence is no part of it.
    let goes_before = |at: usize| capital(at) && !names::is_common_word(text.word(at));
    if !is_unknown_part(text, at) || names::is_first_name(&text.raw_word(at).to_lowercase()) {
        return 0;
    }
    if at > 0 && spaced(text, at - 1) && goes_before(at - 1) {
        return 0;
    }
    let mut end = at + 1;
    while end < at + WORDS_MAX && spaced(text, end - 1) && is_unknown_part(text, end) {
        end += 1;
    }
    if spaced(text, end - 1) && capital(end) { 0 } else { end - at }
}

/// A word in the form of a name that is in no list of other words.
fn is_unknown_part(text: &Text<'_>, at: usize) -> bool {
    let word = text.word(at);
    text.is_capitalised(at)
        && text.raw_word(at).chars().count() > 2
        && text.raw_word(at).split('-').all(|part| part.chars().skip(1).all(char::is_lowercase))
        && names::could_be_part(text.raw_word(at))
        && !names::is_wordy_name(word)
        && !names::is_common_word(word)
        && !names::is_title(word)
        && !super::is_org_ending(text.raw_word(at))
        && !lists::SOFTWARE.contains(word)
        && !lists::PLACES.contains(word)
        && !lists::PLACE_ENDINGS.contains(word)
        && !lists::TRADES.contains(word)
        && !lists::BODIES.contains(text.raw_word(at))
}

impl Signs {
    fn take(&mut self, text: &Text<'_>, tokens: &Range<usize>) {
        self.before(text, tokens.start);
        self.after(text, tokens);
        let next = text.word(tokens.end);
        self.thing |= text.kind(tokens.end) == Some(Kind::Number)
            || lists::NAMED_WORK.contains(next)
            || lists::SITES.contains(next)
            || matches!(next, "team" | "project");
    }

    fn before(&mut self, text: &Text<'_>, at: usize) {
        let word = |back: usize| at.checked_sub(back).map_or("", |at| text.word(at));
        let (before, earlier) = (word(1), word(2));
        let next = text.word(at + 1);
        let ends = text.kind(at + 1).is_none_or(|kind| kind == Kind::Punctuation)
            || matches!(next, "for" | "who" | "from" | "and");
        let greeted = matches!(before, "thanks" | "hi" | "hey" | "dear" | "cheers" | "welcome");
        self.sure |= (ends && (greeted || SAID.contains(&before)))
            || (before == "to" && earlier == "thanks")
            || (before == "you" && earlier == "thank");
        // "her brother Aksel", "our mason Sékou", "its coordinator Yusra Rahim".
        let owned = matches!(earlier, "my" | "his" | "her" | "our" | "their" | "your" | "'s");
        let is_relation = (lists::OTHER_PEOPLE.contains(before) || lists::ROLES.contains(before))
            && !lists::BUSINESS_RELATIONS.contains(before);
        self.sure |= owned && is_relation && spaced(text, at - 1);
        if matches!(
            before,
            "ask" | "asked" | "told" | "tell" | "remind" | "reminded" | "emailed" | "ping" | "cc" | "called"
        ) {
            self.kinds |= WAS_ASKED;
        }
        let named =
            |at: usize| names::is_first_name(&text.raw_word(at).to_lowercase()) && text.is_capitalised(at);
        if matches!(before, "and" | "&") && at > 1 && (named(at - 2) || matches!(earlier, "me" | "i")) {
            self.kinds |= BESIDE_A_NAME;
        }
        let met = (2..5).any(|back| MET.contains(&word(back)))
            || verbs::of(earlier)
                .is_some_and(|verb| verb.class == Class::Deed && (verb.past || verb.participle));
        if matches!(before, "with" | "to" | "by") && met {
            self.kinds |= WITH_OTHERS;
        }
        self.thing |= matches!(
            before,
            "the"
                | "a"
                | "an"
                | "this"
                | "its"
                | "your"
                | "in"
                | "on"
                | "into"
                | "using"
                | "use"
                | "via"
                | "v"
                | "at"
                | "near"
        );
    }

    fn after(&mut self, text: &Text<'_>, tokens: &Range<usize>) {
        let at = tokens.end;
        let next = text.word(at);
        let bracket = tokens.start.checked_sub(1).is_some_and(|before| text.word(before) == "(");
        if bracket && matches!(next, ")" | ",") {
            self.kinds |= IN_BRACKETS;
        }
        // "Wen from the platform team", "Bill from sales".
        let team = || (at + 2..at + 6).any(|near| text.word(near) == "team");
        self.sure |= next == "from"
            && (lists::DEPARTMENTS.contains(text.word(at + 1))
                || (matches!(text.word(at + 1), "the" | "our") && team()));
        // "Zoya (treasurer)", "Zoya, our treasurer,", "Dev is floor warden".
        let is_role = |at: usize| lists::ROLES.contains(text.word(at));
        let ours = matches!(text.word(at + 1), "our" | "the");
        self.sure |=
            (next == "(" && is_role(at + 1)) || (next == "," && ours && (at + 2..at + 4).any(is_role));
        self.sure |= matches!(next, "is" | "'s" | "was")
            && (at + 1..at + 5).any(|near| is_role(near) && !text.is_capitalised(near));
        self.sure |= (matches!(next, "and" | "&") && text.word(at + 1) == "i") || HUMAN_ACTS.contains(&next);
        let named =
            names::is_first_name(&text.raw_word(at + 1).to_lowercase()) && text.is_capitalised(at + 1);
        if matches!(next, "and" | "&") && named {
            self.kinds |= BESIDE_A_NAME;
        }
        if LIKELY_ACTS.contains(&next) || super::acts_like_a_person(text, at - 1) {
            self.kinds |= SPEAKS;
        }
        if verbs::of(next).is_some_and(|verb| verb.class == Class::Deed && verb.past) {
            self.kinds |= DID;
        }
        let own = [
            "idea",
            "point",
            "suggestion",
            "question",
            "desk",
            "birthday",
            "proposal",
            "request",
            "last",
            "boss",
            "mum",
        ];
        if next == "'s" && text.is_any(at + 1, &own) {
            self.kinds |= OWNS;
        }
        // "Ottoline has it on her desk".
        let stop =
            (at..at + 10).find(|near| matches!(text.word(*near), "." | "!" | "?" | "")).unwrap_or(at + 10);
        let pronoun = (at..stop).any(|near| text.is_any(near, &["he", "she", "his", "her", "him"]));
        let related = next == "," && text.word(at + 1) == "who";
        if related || pronoun && (at..stop).all(|near| !text.is_capitalised(near)) {
            self.kinds |= IS_MEANT_BY_PRONOUN;
        }
    }
}
