//! Owners: whose an item is, by the forms in which lists say it.

mod behind;

use std::ops::Range;

use super::lists;
use super::parsed_segment::ParsedSegment;
use super::verbs;
use super::words::Kind;
pub(super) use behind::behind;
use behind::trailing;

/// Between "be" and "by" stand at most so many words.
const AGENT_WITHIN_TOKENS: usize = 8;
/// So many are named together.
pub(super) const TOGETHER_MAX: usize = 12;
/// Who is spoken to is said within this many words.
const CALL_WITHIN_TOKENS: usize = 30;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) people: Vec<usize>,
    /// What is to be done, without the owner; may be empty.
    pub(super) task: Range<usize>,
}

/// The owners of an item and the rest of it: "Alice: …", "@bob to …", "[Kim] …", "Bob – …", "… (owner: Dana)", "… – Kim".
pub(super) fn owned(parsed: &ParsedSegment<'_>, tokens: &Range<usize>, speaker: Option<usize>) -> Owned {
    let by_agent = || {
        let people = agents(parsed, tokens);
        (!people.is_empty()).then(|| Owned { people, task: tokens.clone() })
    };
    let is_person = |entity: &usize| {
        parsed.mentions_in(tokens).iter().any(|mention| mention.entity == *entity && mention.is_person())
    };
    // "Palletron: ring their service [Bogdan]": the body is what it is about.
    let bracketed = || {
        let last = tokens.end.checked_sub(1).filter(|at| parsed.text.is_any(*at, &[")", "]"]));
        last.and_then(|_| trailing(parsed, tokens)).filter(|found| found.people.iter().all(is_person))
    };
    let leading = || {
        let found = leading(parsed, tokens)?;
        if found.people.iter().any(is_person) { Some(found) } else { bracketed().or(Some(found)) }
    };
    own(parsed, tokens, speaker)
        .or_else(by_agent)
        .or_else(leading)
        .or_else(|| trailing(parsed, tokens))
        .unwrap_or(Owned { people: Vec::new(), task: tokens.clone() })
}

/// "me: ring the school", "Me - quotes", "order the gel (me, Wed)", "usage sheet, me, Monday".
fn own(parsed: &ParsedSegment<'_>, tokens: &Range<usize>, speaker: Option<usize>) -> Option<Owned> {
    let text = &parsed.text;
    let people = || speaker.into_iter().collect();
    let at = tokens.clone().find(|at| !is_open(text.word(*at)))?;
    let marked = matches!(text.word(at + 1), ":" | "-" | "–" | "—" | "→");
    if text.word(at) == "me" && marked {
        return Some(Owned { people: people(), task: (at + 2).min(tokens.end)..tokens.end });
    }
    let me = tokens.clone().skip(2).find(|at| {
        let after = text.word(at + 1);
        text.word(*at) == "me"
            && match text.word(at - 1) {
                "(" => matches!(after, ")" | ","),
                "," | "–" | "—" | "→" => {
                    at + 1 >= tokens.end || matches!(after, "," | "." | "–" | "—" | "by")
                }
                _ => false,
            }
    })?;
    speaker.map(|_| Owned { people: people(), task: tokens.start..me - 1 })
}

/// "The list will be sent by Kim and Ana", "to be checked by Hugo": who does what is said to be done.
pub(super) fn agents(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> Vec<usize> {
    let text = &parsed.text;
    let mut be = None;
    for at in tokens.clone() {
        let word = text.word(at);
        if matches!(word, "be" | "been" | "being" | "is" | "are") {
            be = Some(at);
        }
        let Some(be) = be.filter(|be| at - be <= AGENT_WITHIN_TOKENS && word == "by") else { continue };
        let done = |near: usize| {
            let word = text.word(near);
            verbs::of(word).is_some_and(|verb| verb.participle) || (word.len() > 5 && word.ends_with("ed"))
        };
        if (be + 1..at).any(done) {
            return named_together(parsed, at + 1, tokens.end);
        }
    }
    Vec::new()
}

/// "Kim", "Kim and Ana", "Kim, Ana & Bo": those who are named from a token on.
fn named_together(parsed: &ParsedSegment<'_>, at: usize, end: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = at;
    while let Some(mention) =
        parsed.mention(at).filter(|mention| mention.can_act() && mention.tokens.start == at && at < end)
    {
        found.push(mention.entity);
        at = mention.tokens.end;
        if !parsed.text.is_any(at, &["and", "&", ",", "/"]) {
            break;
        }
        at += 1;
    }
    found
}

/// "Could you, Owen, send it", "Can you book it, Mira?", "Dev, you take the keys", "Mira – over to you": who is spoken to.
pub(super) fn called(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> Option<usize> {
    let text = &parsed.text;
    let person = |at: usize| parsed.person(at).filter(|mention| mention.tokens.start == at);
    let asks = |at: usize| {
        text.word(at) == "you"
            || (text.is_any(at, &["can", "could", "would", "will"]) && text.word(at + 1) == "you")
            || (text.word(at) == "over" && text.word(at + 1) == "to" && text.word(at + 2) == "you")
    };
    let head = sentence
        .clone()
        .take(CALL_WITHIN_TOKENS)
        .find(|at| !is_open(text.word(*at)) && !text.is_any(*at, &["hi", "hey", "so", "and", "ok", ","]))?;
    if let Some(mention) = person(head) {
        let mark = text.is_any(mention.tokens.end, &[",", "-", "–", "—", ":"]);
        let next = mention.tokens.end + usize::from(mark);
        // "Owen you told me": said with no mark, it is a request or nothing.
        let plain =
            text.word(next) != "you" || mark || verbs::of(text.word(next + 1)).is_some_and(|it| it.base);
        return (asks(next) && plain).then_some(mention.entity);
    }
    let you = sentence.clone().take(CALL_WITHIN_TOKENS).find(|at| text.word(*at) == "you")?;
    let asked = you > sentence.start && text.is_any(you - 1, &["can", "could", "would", "will"]);
    if !asked {
        return None;
    }
    let amid = person(you + 2).filter(|mention| {
        text.word(you + 1) == "," && text.is_any(mention.tokens.end, &[",", "?", "–", "-"])
    });
    let last = || {
        let mention = parsed.mentions_in(sentence).last().filter(|mention| mention.is_person())?;
        let before = mention.tokens.start.checked_sub(1)?;
        let ends = mention.tokens.end >= sentence.end || text.is_any(mention.tokens.end, &["?", ".", "!"]);
        (text.word(before) == "," && ends).then_some(mention)
    };
    amid.or_else(last).map(|mention| mention.entity)
}

/// "All board members: review it", "Everyone to vote": whoever speaks, it is not theirs alone.
pub(super) fn is_for_many(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> bool {
    let text = &parsed.text;
    let Some(at) = tokens.clone().find(|at| !is_open(text.word(*at))) else { return false };
    if text.is_any(at, &["everyone", "everybody"]) {
        return true;
    }
    let Some(mark) = (at + 1..tokens.end.min(at + 6)).find(|mark| text.is_any(*mark, &[":", "to"])) else {
        return false;
    };
    let last = text.word(mark - 1);
    let many = lists::PUBLIC.contains(last)
        || lists::TEAMS.contains(last)
        || lists::DEPARTMENTS.contains(last)
        || matches!(
            last,
            "board" | "committee" | "council" | "team" | "all" | "leads" | "maintainers" | "chairs"
        );
    text.word(at) == "all" || (many && text.word(mark) == ":")
}

/// "ill ask Wim", "mine", "let me fix it", "you'll have it by Monday": whoever speaks will do it.
pub(super) fn is_spoken_for_oneself(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> bool {
    let text = &parsed.text;
    let gives = |at: usize| {
        let will = at + 1 + usize::from(text.is_any(at + 1, &["will", "'ll"]));
        will > at + 1 && text.is_any(will, &["have", "get", "hear", "receive", "find"])
    };
    let head = tokens
        .clone()
        .take(6)
        .any(|at| text.is_any(at, &["ill", "im", "ive", "mine"]) || (text.word(at) == "you" && gives(at)));
    // "that's on me", "leave the write-up with me", "a report will be with you on Monday".
    let pair = |at: usize| match text.word(at) {
        "on" | "from" | "is" => text.word(at + 1) == "me",
        "with" => text.word(at + 1) == "me" || is_sent_to_you(parsed, at),
        "to" => is_sent_to_you(parsed, at),
        "reach" | "reaches" => text.word(at + 1) == "you",
        _ => false,
    };
    let mine = text.word(tokens.end.saturating_sub(2)) == "mine";
    // "let me fix that".
    let lets = tokens.clone().take(6).any(|at| {
        text.word(at) == "let"
            && text.word(at + 1) == "me"
            && verbs::of(text.word(at + 2)).is_some_and(|verb| verb.base && verb.class == verbs::Class::Deed)
    });
    head || mine || lets || tokens.clone().any(pair)
}

/// "You will send us the form", in a mail to one person: it is theirs.
pub(super) fn is_asked_of_you(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> bool {
    let text = &parsed.text;
    // "you kindly undertook to send it", "you gave me your word that".
    let took_on = |at: usize| {
        let verb = at + 1 + usize::from(text.word(at + 1).len() > 4 && text.word(at + 1).ends_with("ly"));
        text.is_any(verb, &["undertook", "promised", "agreed", "offered"])
            || (text.word(verb) == "gave" && (verb..verb + 5).any(|near| text.word(near) == "word"))
    };
    tokens.clone().take(8).any(|at| {
        (text.word(at) == "you" && took_on(at))
            || text.word(at) == "you"
                && text.is_any(at + 1, &["will", "'ll", "shall"])
                && !text
                    .is_any(at + 2, &["be", "have", "get", "hear", "receive", "find", "see", "need", "want"])
    })
}

/// "will be with you": without a word of who sends it.
fn is_sent_to_you(parsed: &ParsedSegment<'_>, with: usize) -> bool {
    let text = &parsed.text;
    with >= 2
        && text.is_any(with, &["with", "to"])
        && text.word(with + 1) == "you"
        && text.is_any(with - 1, &["be", "sent", "forwarded", "delivered"])
        && (with.saturating_sub(3)..with).any(|at| text.is_any(at, &["will", "'ll", "shall"]))
}

/// "has kindly agreed to", "undertook to", "is charged with", "'s rewriting": it is theirs.
pub(super) fn takes_on(parsed: &ParsedSegment<'_>, at: usize) -> bool {
    let text = &parsed.text;
    let adverb = |at: usize| text.word(at).len() > 4 && text.word(at).ends_with("ly");
    match text.word(at) {
        "has" | "have" => {
            let taken =
                at + 1 + usize::from(adverb(at + 1) || text.is_any(at + 1, &["since", "also", "now"]));
            text.is_any(
                taken,
                &["agreed", "assured", "committed", "offered", "promised", "undertaken", "volunteered"],
            )
        }
        "agreed" | "offered" | "promised" | "promises" | "undertook" | "undertakes" | "volunteered"
        | "volunteers" | "commits" | "committed" => true,
        "is" | "was" | "are" | "were" => {
            (text.word(at + 1) == "charged" && text.word(at + 2) == "with")
                || (text.is_any(at + 1, &["asked", "assigned", "tasked", "instructed", "requested"])
                    && text.is_any(at + 2, &["to", "with"]))
        }
        "'s" => {
            text.word(at + 1).len() > 4 && text.word(at + 1).ends_with("ing") && !text.is_capitalised(at + 1)
        }
        _ => false,
    }
}

/// "Imran fits it", "Imran sorts out the keys": a word in -s with what it is done to.
pub(super) fn looks_like_a_deed(parsed: &ParsedSegment<'_>, at: usize) -> bool {
    let text = &parsed.text;
    let word = text.word(at);
    text.is_word(at)
        && !text.is_capitalised(at)
        && word.len() > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && text.is_any(
            at + 1,
            &["it", "the", "a", "an", "them", "this", "that", "up", "out", "our", "his", "her", "their"],
        )
}

pub(super) fn is_open(word: &str) -> bool {
    matches!(word, "*" | "_" | "[" | "(" | "\"" | "`")
}

/// Where the owner may stand: behind "AI", "Action", "[TODO]", if one follows at once.
fn after_mark(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> Option<usize> {
    let text = &parsed.text;
    // "2.3 Winston to get a quote".
    let number =
        |at: usize| text.kind(at) == Some(Kind::Number) || (at > tokens.start && text.word(at) == "|");
    let at = tokens.clone().find(|at| !is_open(text.word(*at)) && !number(*at))?;
    if !text.is_any(at, &["ai", "action", "ap", "todo", "task"]) {
        return Some(at);
    }
    let rest = at + 1 + usize::from(text.is_any(at + 1, &["item", "point"]));
    let owner = (rest..tokens.end.min(rest + 3))
        .find(|at| !is_open(text.word(*at)) && !text.is_any(*at, &["]", ":", "-", "–", "for"]));
    Some(owner.filter(|owner| parsed.person(*owner).is_some()).unwrap_or(at))
}

fn leading(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> Option<Owned> {
    let text = &parsed.text;
    let mut at = after_mark(parsed, tokens)?;
    let mut people = Vec::new();
    // "Seun & Ewa: …": who the first is, nothing tells.
    if parsed.person(at).is_none()
        && text.is_capitalised(at)
        && text.is_any(at + 1, &["and", "&", "/", "+"])
        && parsed.person(at + 2).is_some()
    {
        at += 2;
    }
    while let Some(mention) = parsed.person(at).filter(|_| at < tokens.end) {
        people.push(mention.entity);
        at = mention.tokens.end;
        let more = matches!(text.word(at), "and" | "&" | "," | "/" | "+");
        if more && parsed.person(at + 1).is_some() {
            at += 1;
        } else {
            break;
        }
    }
    // "API team → write the endpoint", "Zelkit to send the list".
    let body = parsed
        .mention(at)
        .filter(|mention| people.is_empty() && mention.can_act() && mention.tokens.start == at);
    if let Some(body) = body {
        people.push(body.entity);
        at = body.tokens.end;
        let arrow = text.word(at) == "-" && text.word(at + 1) == ">";
        if !arrow && !text.is_any(at, &["→", "to", "will", "shall"]) {
            return None;
        }
    }
    if people.is_empty() {
        return None;
    }
    // "Martin and EMK to write a draft": who the second is, nothing tells.
    if text.is_any(at, &["and", "&", "/", "+"])
        && let Some(end) = (at + 2..at + 4).find(|end| !text.is_capitalised(*end))
        && text.is_capitalised(at + 1)
        && text.is_any(end, &["to", "will", ":"])
    {
        at = end;
    }
    // "Bob (QA): …"
    if text.word(at) == "(" {
        at = (at..tokens.end.min(at + 8)).find(|end| text.word(*end) == ")")? + 1;
    }
    while at < tokens.end && matches!(text.word(at), "*" | "_" | "]" | ")" | "`" | "\"") {
        at += 1;
    }
    if at >= tokens.end {
        return Some(Owned { people, task: at.min(tokens.end)..tokens.end });
    }
    let handle = text.kind(tokens.start) == Some(Kind::Handle);
    // "[Kim] write it", "(Kim) write it".
    let closed = matches!(text.word(at - 1), "]" | ")") && is_open(text.word(tokens.start));
    at = match text.word(at) {
        ":" | "–" | "—" | "→" | ">" | "to" | "will" | "'ll" | "shall" => at + 1,
        "-" => at + if text.word(at + 1) == ">" { 2 } else { 1 },
        "is" if text.word(at + 1) == "going" && text.word(at + 2) == "to" => at + 3,
        _ if handle || closed => at,
        // "Ebba finishes …", "Lucía presents …".
        word if verbs::of(word).is_some_and(|verb| verb.third && !verb.past) => at,
        _ => return None,
    };
    while at < tokens.end && matches!(text.word(at), "*" | "_" | "to" | "will") {
        at += 1;
    }
    Some(Owned { people, task: at.min(tokens.end)..tokens.end })
}
