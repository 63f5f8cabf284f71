//! Doers: who stands where a promise names the one who is to keep it, "Yusra flies down", "KM to try it", "AP1: T. Moss: …". The place
//! alone tells that it is someone, so it may be a person or a body that nothing else in the text shows.

mod named;

use std::collections::HashSet;
use std::ops::Range;

use memory_core::entity::EntityType;
use memory_core::event::{Actor, ActorRole, Category};

use super::draft::Draft;
use super::names;
use super::owners::{TOGETHER_MAX, is_open, looks_like_a_deed, takes_on};
use super::parsed_segment::{Mention, ParsedSegment};
use super::people::{Roster, is_initials};
use super::verbs::{self, Class};
use super::words::{Kind, Text, begins_line};

/// A doer stands within so many tokens of the head.
const HEAD_TOKENS: usize = 12;
/// A name has no more words.
const NAME_WORDS: usize = 4;
/// What stands in brackets between the doer and the verb.
const ASIDE_TOKENS: usize = 8;
/// Marks of an action, before the one who is to do it.
const ACTIONS: [&str; 6] = ["action", "actions", "ai", "ap", "task", "todo"];

/// One who is named as the doer.
#[derive(Debug, Clone)]
struct Named {
    tokens: Range<usize>,
    /// Who is meant, of those known; otherwise it is a name of its own.
    known: Option<usize>,
    is_body: bool,
}

/// Gives promises to those who stand where the doer stands, and makes known who was not.
pub(super) fn name_doers(
    parsed_segments: &mut [ParsedSegment<'_>],
    roster: &mut Roster,
    drafts: &mut [Draft],
) {
    let mut found: Vec<Vec<Mention>> = vec![Vec::new(); parsed_segments.len()];
    let mut fresh = HashSet::new();
    let mut words: Vec<Option<HashSet<String>>> = vec![None; parsed_segments.len()];
    for draft in drafts.iter_mut().filter(|draft| draft.category == Category::Commitment) {
        let [(segment, bytes)] = draft.evidence.as_slice() else { continue };
        let Some(parsed) = parsed_segments.get(*segment) else { continue };
        let small = words[*segment].get_or_insert_with(|| small_words(&parsed.text));
        let speaker = speaker_at(parsed, roster, bytes.start);
        let tokens = parsed.text.tokens_in(bytes);
        let place = Place { parsed, roster, small, speaker };
        // The row of a table names its owner in a column.
        let is_row = tokens.clone().any(|at| parsed.text.word(at) == "|");
        if is_row && draft.actors.iter().any(|actor| actor.role == ActorRole::Owner) {
            continue;
        }
        let asked = place.asked(&tokens).or_else(|| place.made_to(&tokens));
        let asks = asked.is_some();
        let Some(doers) = asked.or_else(|| place.doers(&tokens)) else { continue };
        let owners: Vec<usize> = doers
            .into_iter()
            .filter_map(|doer| {
                let (entity, is_new) = entity(parsed, roster, &doer)?;
                if is_new {
                    fresh.insert(entity);
                }
                let entity_type = roster.entities[entity].entity_type;
                if !parsed.text.is_any(doer.tokens.start, &["me", "i"]) {
                    found[*segment].push(Mention { tokens: doer.tokens, entity, entity_type, gender: None });
                }
                Some(entity)
            })
            .collect();
        let known = draft.actors.iter().filter(|actor| actor.role == ActorRole::Owner);
        if owners.is_empty() || known.map(|actor| actor.entity).eq(owners.iter().copied()) {
            continue;
        }
        if asks {
            draft.demote_owners();
        }
        draft.actors.retain(|actor| actor.role != ActorRole::Owner && !owners.contains(&actor.entity));
        draft.actors.extend(owners.iter().map(|entity| Actor { entity: *entity, role: ActorRole::Owner }));
        draft.subject = draft.subject.filter(|subject| !owners.contains(subject));
    }
    for (parsed, found) in parsed_segments.iter_mut().zip(found) {
        if !fresh.is_empty() || !found.is_empty() {
            parsed.find_more(roster, &found, &fresh);
        }
    }
}

/// The entity of a doer, and whether it was added; none where the name is known to be no one's.
fn entity(parsed: &ParsedSegment<'_>, roster: &mut Roster, doer: &Named) -> Option<(usize, bool)> {
    if let Some(known) = doer.known {
        return Some((known, false));
    }
    let name =
        names::without_title(&parsed.text.raw[parsed.text.bytes(&doer.tokens)]).trim_start_matches('@');
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(known) = roster.named(&name) {
        let acts = matches!(roster.entities[known].entity_type, EntityType::Person | EntityType::Org);
        return acts.then_some((known, false));
    }
    let entity_type = if doer.is_body { EntityType::Org } else { EntityType::Person };
    Some((roster.add(&name, entity_type), true))
}

/// Who says what stands at a byte.
fn speaker_at(parsed: &ParsedSegment<'_>, roster: &Roster, byte: usize) -> Option<usize> {
    let block = parsed.layout.blocks.iter().find(|block| block.bytes.contains(&byte))?;
    block.speaker.as_deref().map_or(parsed.speaker, |name| roster.named(name))
}

/// The words that a text writes in small letters: written large at the head of a sentence they are no names.
fn small_words(text: &Text<'_>) -> HashSet<String> {
    (0..text.tokens.len())
        .filter(|at| text.is_word(*at) && !text.is_capitalised(*at))
        .map(|at| text.word(at).to_owned())
        .collect()
}

/// Where doers are looked for.
struct Place<'p, 'a> {
    parsed: &'p ParsedSegment<'a>,
    roster: &'p Roster,
    small: &'p HashSet<String>,
    speaker: Option<usize>,
}

impl Place<'_, '_> {
    /// "I asked Henri to order it", "We've told Ann and Bo to wait", "Ann asked me to send it": whom another gave it to.
    fn asked(&self, tokens: &Range<usize>) -> Option<Vec<Named>> {
        let text = &self.parsed.text;
        let verb = tokens.clone().find(|at| text.is_any(*at, &["asked", "told", "reminded"]))?;
        let mut named: Vec<Named> = Vec::new();
        let mut at = verb + 1;
        while named.len() < TOGETHER_MAX {
            let next = if text.word(at) == "me" { self.own(at) } else { self.name(at, tokens.end) }?;
            at = next.tokens.end;
            named.push(next);
            if !text.is_any(at, &["and", "&", ","]) {
                break;
            }
            at += 1;
        }
        let done = verbs::of(text.word(at + 1)).is_some_and(|verb| verb.base);
        (text.word(at) == "to" && at + 1 < tokens.end && done).then_some(named)
    }

    /// "me", "I": whoever speaks.
    fn own(&self, at: usize) -> Option<Named> {
        Some(Named { tokens: at..at + 1, known: Some(self.speaker?), is_body: false })
    }

    /// "second by Bo Ray to have Clerk Ann Lee order it".
    fn made_to(&self, tokens: &Range<usize>) -> Option<Vec<Named>> {
        let text = &self.parsed.text;
        let have = tokens.clone().skip(1).find(|at| text.word(*at) == "have" && text.word(at - 1) == "to")?;
        // "to have the Weftdesk invoice paid" makes nobody do it.
        let named = (have + 1..tokens.end.min(have + NAME_WORDS))
            .take_while(|at| {
                !text.is_any(*at, &["the", "a", "an", "our", "my", "your", "his", "her", "their"])
            })
            .find(|at| self.parsed.mention(*at).is_some())
            .and_then(|at| self.name(at, tokens.end))?;
        let does = verbs::of(text.word(named.tokens.end)).is_some_and(|verb| verb.base);
        (does && named.tokens.end < tokens.end).then_some(vec![named])
    }

    /// Those who stand at the head, behind "Action:", or behind what the promise is about: "Nets: Moss will mend them".
    fn doers(&self, tokens: &Range<usize>) -> Option<Vec<Named>> {
        let text = &self.parsed.text;
        let number = |at: usize| text.kind(at) == Some(Kind::Number) || text.word(at) == "|";
        let mark = |at: usize| is_open(text.word(at)) || text.word(at) == "#";
        let head = tokens.clone().find(|at| !mark(*at) && !number(*at))?;
        if let Some(doer) = self.before_arrow(tokens.start) {
            return Some(vec![doer]);
        }
        if let Some(owner) = self.behind_action(head, tokens.end) {
            return self.at(owner, tokens.end, true);
        }
        if let Some(doers) = self.at(head, tokens.end, false) {
            return Some(doers);
        }
        let near = tokens.end.min(head + HEAD_TOKENS);
        let cells = (near..tokens.end).filter(|at| text.word(*at) == "|");
        let amid = (head + 1..near).chain(cells).find_map(|at| {
            let arrow = text.word(at) == "→" || (text.word(at) == ">" && text.word(at - 1) == "-");
            let dash = matches!(text.word(at), "–" | "—") || (text.word(at) == "-" && !text.touches_next(at));
            let opens = arrow || dash || matches!(text.word(at), ":" | "|" | "that");
            let aside = text.word(at) == ",";
            if !opens && !aside {
                return None;
            }
            let doers = self.at(at + 1, tokens.end, false)?;
            // "our officer, S. Moss, completes it", "there is none, Moss will order it".
            let apart = |doer: &Named| {
                text.word(doer.tokens.end) == ","
                    || (doer.known.is_some() && text.is_any(doer.tokens.end, &["will", "'ll", "shall"]))
            };
            (opens || doers.last().is_some_and(apart)).then_some(doers)
        });
        amid.or_else(|| self.fallen_to(tokens))
    }

    /// "T.J. → fix it by Friday": the line begins with the name, and the promise behind the arrow.
    fn before_arrow(&self, start: usize) -> Option<Named> {
        let text = &self.parsed.text;
        let arrow = if text.word(start) == "→" { start } else { start.checked_sub(1)? };
        let floor = arrow.saturating_sub(NAME_WORDS + 1);
        let begin = (floor..arrow).find(|at| begins_line(text, *at) && text.is_word(*at))?;
        let name = self.name(begin, arrow).filter(|_| text.word(arrow) == "→")?;
        let end = name.tokens.end + usize::from(text.word(name.tokens.end) == ".");
        (end == arrow).then_some(name)
    }

    /// "It falls to Rafael", "assigned to Estates": the one person or body whose task it is.
    fn fallen_to(&self, tokens: &Range<usize>) -> Option<Vec<Named>> {
        const VERBS: [&str; 9] =
            ["falls", "goes", "passes", "fall", "go", "assigned", "given", "left", "down"];
        let text = &self.parsed.text;
        let to = (tokens.start + 1..tokens.end)
            .find(|at| text.word(*at) == "to" && text.is_any(at - 1, &VERBS))?;
        self.parsed.mention(to + 1)?;
        Some(vec![self.name(to + 1, tokens.end)?])
    }

    /// "AP3: …", "Action – …", "[TODO] …": where the owner stands.
    fn behind_action(&self, head: usize, end: usize) -> Option<usize> {
        let text = &self.parsed.text;
        let mark = text.word(head).trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        if !ACTIONS.contains(&mark) {
            return None;
        }
        let rest = head + 1 + usize::from(text.is_any(head + 1, &["item", "point"]));
        (rest..end.min(rest + 4)).find(|at| {
            !is_open(text.word(*at))
                && text.kind(*at) != Some(Kind::Number)
                && !text.is_any(*at, &["]", ":", "-", "–", "—", "for", "*", ")"])
        })
    }

    /// Those named from a token on, if what follows is what they are to do.
    fn at(&self, start: usize, end: usize, is_marked: bool) -> Option<Vec<Named>> {
        let text = &self.parsed.text;
        let mut at = start + usize::from(text.word(start) == "the");
        let mut named: Vec<Named> = Vec::new();
        while named.len() < TOGETHER_MAX {
            // "Moses and I are booked", "me and Goldie, Thursday".
            let is_own = text.is_any(at, &["i", "me"]) && (!named.is_empty() || text.word(at + 1) == "and");
            let Some(next) = (if is_own { self.own(at) } else { self.name(at, end) }) else { break };
            at = next.tokens.end;
            named.push(next);
            let joined = text.is_any(at, &["and", "&", "/", "+"])
                || (text.word(at) == "," && self.name(at + 1, end).is_some());
            if !joined {
                break;
            }
            at += 1;
        }
        let last = named.last()?;
        at = last.tokens.end;
        if text.is_any(at, &["and", "&", "/", "+"]) {
            return None;
        }
        if text.word(at) == "(" {
            at = (at..end.min(at + ASIDE_TOKENS)).find(|at| text.word(*at) == ")")? + 1;
        }
        at = (at..end).find(|at| !text.is_any(*at, &["*", "_", "]", "`"]))?;
        at += usize::from(text.word(at) == "," && start > 0 && text.word(start - 1) == ",");
        let colon =
            text.word(at) == ":" || (matches!(text.word(at), "–" | "—" | "-") && !text.touches_next(at));
        let plain = named.iter().all(|one| one.known.is_some() || self.is_surely_someone(&one.tokens));
        let shared = named.len() > 1 && named.iter().any(|one| one.known.is_some());
        let is_unit = named.iter().all(|one| one.is_body && one.known.is_some());
        let labelled = colon && (is_marked || shared || is_unit || self.is_initialled(&named));
        // "Ingrid and Wes do it with the accountant."
        let together = named.len() > 1
            && verbs::of(text.word(at))
                .is_some_and(|verb| verb.base && !verb.past && verb.class != Class::Idle);
        let does = labelled || together || self.does(at, plain);
        (at < end && does).then_some(named)
    }

    /// "T. Moss: …", "PV: …".
    fn is_initialled(&self, named: &[Named]) -> bool {
        let text = &self.parsed.text;
        named.iter().all(|one| {
            is_initials(text.raw_word(one.tokens.start))
                || text.raw_word(one.tokens.start).chars().count() == 1
        })
    }

    /// A first name, a title, an initial or several words: no common noun at the head of a sentence.
    fn is_surely_someone(&self, tokens: &Range<usize>) -> bool {
        let text = &self.parsed.text;
        tokens.len() > 1 || names::is_first_name(&text.raw_word(tokens.start).to_lowercase())
    }

    /// "will send", "to call", "mends", "has promised to", "is on it"; `plain` says that someone surely stands before it.
    fn does(&self, at: usize, plain: bool) -> bool {
        let text = &self.parsed.text;
        let deed =
            |at: usize| verbs::of(text.word(at)).is_some_and(|verb| verb.base && verb.class != Class::Idle);
        let adverb =
            |at: usize| at + usize::from(text.is_any(at, &["also", "then", "now", "kindly", "both"]));
        match text.word(at) {
            "will" | "'ll" | "shall" => {
                let verb = adverb(at + 1);
                text.word(verb) != "be" || verbs::of(text.word(verb + 1)).is_some_and(|verb| verb.ing)
            }
            "to" | "→" => {
                deed(adverb(at + 1))
                    || (plain && text.is_word(at + 1) && !text.is_any(at + 1, &["be", "have"]))
            }
            "is" | "are" => {
                (text.word(at + 1) == "on" && text.is_any(at + 2, &["it", "this", "that"]))
                    || (text.word(at + 1) == "going" && text.word(at + 2) == "to")
                    || (text.word(at + 1) == "to" && deed(at + 2))
                    || verbs::of(text.word(at + 1)).is_some_and(|verb| verb.ing && verb.class != Class::Idle)
                    || takes_on(self.parsed, at)
            }
            // "It was left that Stefan would send it".
            "would" => plain,
            "does" => !text.is_any(at + 1, &["not", "n't"]),
            word => {
                let known =
                    verbs::of(word).is_some_and(|verb| verb.third && !verb.past && verb.class == Class::Deed);
                let like = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && text.is_word(at);
                known
                    || takes_on(self.parsed, at)
                    || looks_like_a_deed(self.parsed, at)
                    || (plain
                        && like
                        && !text.is_capitalised(at)
                        && verbs::of(word).is_none_or(|verb| verb.third && verb.class != Class::Idle))
            }
        }
    }
}
