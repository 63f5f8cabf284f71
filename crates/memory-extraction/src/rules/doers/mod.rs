//! Doers: who stands where a promise names the one who is to keep it, "Yusra flies down", "KM to try it", "AP1: T. Moss: …". The place
//! alone tells that it is someone, so it may be a person or a body that nothing else in the text shows.

mod acts;
mod index;
mod named;

mod offices;
mod seen;
mod together;
mod unsaid;

use std::collections::HashSet;
use std::ops::Range;

use memory_core::entity::EntityType;
use memory_core::event::{Actor, ActorRole, Category};

use super::draft::Draft;
use super::names;
use super::owners::{TOGETHER_MAX, is_open};
use super::parsed_segment::{Mention, ParsedSegment};
use super::people::{Roster, is_own_name};
use super::verbs;
use super::words::{Kind, begins_line};
use index::Index;
use offices::{Offices, is_office};
use seen::Seen;

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
    let index = Index::of(roster);
    let mut all_seen: Vec<Option<Seen>> = parsed_segments.iter().map(|_| None).collect();
    let mut offices: Vec<Option<Offices>> = parsed_segments.iter().map(|_| None).collect();
    for draft in drafts.iter_mut().filter(|draft| draft.category == Category::Commitment) {
        let [(segment, bytes)] = draft.evidence.as_slice() else { continue };
        let Some(parsed) = parsed_segments.get(*segment) else { continue };
        let seen = all_seen[*segment].get_or_insert_with(|| Seen::of(parsed));
        let (spoken, speaker) = speaker_at(parsed, roster, bytes.start);
        let tokens = parsed.text.tokens_in(bytes);
        let place = Place { parsed, roster, seen, index: &index, speaker, spoken };
        let Some((doers, asks)) = whose(&place, draft, &tokens, &mut offices[*segment]) else { continue };
        let owners: Vec<usize> = doers
            .into_iter()
            .filter_map(|doer| {
                let (entity, is_new) = entity(parsed, roster, &doer)?;
                if is_new {
                    fresh.insert(entity);
                }
                let entity_type = roster.entities[entity].entity_type;
                if !doer.tokens.is_empty() && !parsed.text.is_any(doer.tokens.start, &["me", "i"]) {
                    found[*segment].push(Mention { tokens: doer.tokens, entity, entity_type, gender: None });
                }
                Some(entity)
            })
            .collect();
        if (owners.is_empty() && !asks) || draft.owners().eq(owners.iter().copied()) {
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

/// The doers of a promise, and whether another gave it to them; none where those whom it has already are right.
fn whose(
    place: &Place<'_, '_>,
    draft: &Draft,
    tokens: &Range<usize>,
    offices: &mut Option<Offices>,
) -> Option<(Vec<Named>, bool)> {
    let is_owned = draft.owners().next().is_some();
    // The row of a table names its owner in a column.
    let is_row = tokens.clone().any(|at| place.parsed.text.word(at) == "|");
    if tokens.is_empty() || (is_row && is_owned) {
        return None;
    }
    let nobody = || place.only_needs(tokens).then(Vec::new);
    let asked = place.asked(tokens).or_else(|| place.made_to(tokens));
    let asked = asked.or_else(|| place.told_of(tokens)).or_else(nobody);
    let asks = asked.is_some();
    let doers = match asked.or_else(|| place.doers(tokens)) {
        None if !is_owned => place.beyond(tokens, offices),
        found => found,
    };
    // "Purchasing will add it (Ms Moss)": the body and who does it there.
    let is_org = |owner: usize| place.roster.entities[owner].entity_type == EntityType::Org;
    let is_bodies = match &doers {
        Some(doers) => doers.iter().all(|doer| doer.is_body),
        None => is_owned && draft.owners().all(is_org),
    };
    let inner = is_bodies.then(|| place.closing(tokens)).flatten();
    let is_one = |one: &Named| !one.is_body && place.is_person(one);
    let inner = inner.filter(|inner| inner.iter().all(is_one));
    Some((inner.or(doers)?, asks))
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

/// Whether a turn of someone stands at a byte, and who says it.
fn speaker_at(parsed: &ParsedSegment<'_>, roster: &Roster, byte: usize) -> (bool, Option<usize>) {
    let blocks = &parsed.layout.blocks;
    let begun = blocks.partition_point(|block| block.bytes.start <= byte);
    let block = begun.checked_sub(1).map(|last| &blocks[last]).filter(|block| block.bytes.contains(&byte));
    match block.and_then(|block| block.speaker.as_deref()) {
        Some(name) => {
            let own = parsed.speaker.filter(|_| is_own_name(name));
            (true, roster.named(name).or(own))
        }
        None => (false, block.and(parsed.speaker)),
    }
}

/// Where doers are looked for.
struct Place<'p, 'a> {
    parsed: &'p ParsedSegment<'a>,
    roster: &'p Roster,
    seen: &'p Seen,
    index: &'p Index,
    speaker: Option<usize>,
    /// It is a turn of a conversation or stands below a name.
    spoken: bool,
}

impl Place<'_, '_> {
    /// "I asked Henri to order it", "We've told Ann and Bo to wait", "Ann wants me to send it", "Ann gave me until Friday to decide":
    /// whom another gave it to; nobody, where it is "me" or "you" and it is not known who that is.
    fn asked(&self, tokens: &Range<usize>) -> Option<Vec<Named>> {
        const ASKS: [&str; 18] = [
            "asked",
            "asks",
            "begged",
            "expect",
            "expected",
            "expects",
            "gave",
            "instructed",
            "need",
            "needs",
            "reminded",
            "requires",
            "told",
            "tells",
            "urged",
            "want",
            "wanted",
            "wants",
        ];
        let text = &self.parsed.text;
        let verb = tokens.clone().find(|at| text.is_any(*at, &ASKS))?;
        let mut named: Vec<Named> = Vec::new();
        let mut at = verb + 1;
        let mut is_open = false;
        while named.len() < TOGETHER_MAX {
            let known = match text.word(at) {
                "me" | "us" => Some(self.speaker),
                "you" => Some(self.parsed.addressee),
                _ => None,
            };
            at = match known {
                Some(known) => {
                    is_open |= known.is_none();
                    named.extend(known.map(|known| Named {
                        tokens: at..at + 1,
                        known: Some(known),
                        is_body: false,
                    }));
                    at + 1
                }
                None => {
                    let next = self.name(at, tokens.end)?;
                    let end = next.tokens.end;
                    named.push(next);
                    end
                }
            };
            if !text.is_any(at, &["and", "&", ","]) {
                break;
            }
            at += 1;
        }
        // "gave me until 1 December to decide".
        if text.word(verb) == "gave" {
            at = (at..tokens.end.min(at + ASIDE_TOKENS)).find(|at| text.word(*at) == "to")?;
        }
        let done = verbs::of(text.word(at + 1)).is_some_and(|verb| verb.base);
        let is_asked = text.word(at) == "to" && at + 1 < tokens.end && done;
        (is_asked && (is_open || !named.is_empty())).then_some(named)
    }

    /// "Max said Ole would send the keys", "Sue says the plumber will come": of whom it is told; nobody, where that is nobody known.
    fn told_of(&self, tokens: &Range<usize>) -> Option<Vec<Named>> {
        const SAYS: [&str; 10] = [
            "said",
            "says",
            "thinks",
            "thought",
            "reckons",
            "hopes",
            "hoped",
            "heard",
            "expects",
            "announced",
        ];
        let text = &self.parsed.text;
        let head = tokens.start..tokens.end.min(tokens.start + HEAD_TOKENS);
        let says = head.skip(1).find(|at| text.is_any(*at, &SAYS))?;
        let at = says + 1 + usize::from(text.word(says + 1) == "that");
        let is_led = |at: usize| text.is_any(at, &["will", "would", "'ll", "'d"]);
        if let Some(named) = self.name(at, tokens.end) {
            return is_led(named.tokens.end).then(|| vec![named]);
        }
        let is_thing = text.is_any(at, &["the", "a", "an", "my", "our", "his", "her", "their"]);
        let will = (at + 1..tokens.end.min(at + NAME_WORDS + 1)).find(|at| is_led(*at));
        (is_thing && will.is_some()).then(Vec::new)
    }

    /// "Oliver needs his kit by Thursday", "Mr Ferreira wants the contract": who needs it does not bring it.
    fn only_needs(&self, tokens: &Range<usize>) -> bool {
        const OBJECT: [&str; 12] =
            ["a", "an", "the", "his", "her", "their", "our", "my", "your", "this", "some", "it"];
        let text = &self.parsed.text;
        let head = tokens.start..tokens.end.min(tokens.start + HEAD_TOKENS);
        let verb = head.clone().find(|at| text.is_any(*at, &["needs", "wants", "expects", "awaits"]));
        let is_subject =
            |verb: usize| self.name(tokens.start, verb + 1).is_some_and(|one| one.tokens.end == verb);
        verb.is_some_and(|verb| text.is_any(verb + 1, &OBJECT) && is_subject(verb))
    }

    /// Whose it is where no doer stands: an office's, of who is named behind it, else of who says it.
    fn beyond(&self, tokens: &Range<usize>, offices: &mut Option<Offices>) -> Option<Vec<Named>> {
        let has_office = tokens.clone().any(|at| is_office(self.parsed.text.word(at)));
        let held = has_office
            .then(|| offices.get_or_insert_with(|| Offices::of(self)).standing(self, tokens))
            .flatten();
        held.map(|holder| vec![holder]).or_else(|| self.closing(tokens)).or_else(|| self.unsaid(tokens))
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
        if let Some(doers) = self.minuted(head, tokens.end) {
            return Some(doers);
        }
        if let Some(owner) = self.behind_action(head, tokens.end) {
            return self.at(owner, tokens.end, true);
        }
        if let Some(mut doers) = self.at(head, tokens.end, false) {
            self.join_others(&mut doers, tokens.end);
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
            let covers = aside
                && doers.iter().all(|doer| doer.known.is_some() && !doer.is_body)
                && self.tells_no_deed(&(head..at));
            (opens || covers || doers.last().is_some_and(apart)).then_some(doers)
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

    /// "#action kim to order it", "#action kim, bo the announcement": those whom a command of a minuting program gives it to.
    fn minuted(&self, head: usize, end: usize) -> Option<Vec<Named>> {
        let text = &self.parsed.text;
        head.checked_sub(1).filter(|at| text.word(*at) == "#" && text.touches_next(*at))?;
        if text.word(head) != "action" {
            return None;
        }
        let mut named: Vec<Named> = Vec::new();
        let mut at = head + 1;
        while let Some(next) = (named.len() < TOGETHER_MAX).then(|| self.commanded(at, end)).flatten() {
            at = next.tokens.end;
            named.push(next);
            if !text.is_any(at, &[",", "and", "&", "/"]) {
                break;
            }
            at += 1;
        }
        (!named.is_empty()).then_some(named)
    }

    /// The name behind "#action": of someone known, else of whoever is "to" do something.
    fn commanded(&self, at: usize, end: usize) -> Option<Named> {
        const NOBODY: [&str; 6] = ["all", "tba", "tbc", "tbd", "us", "we"];
        let text = &self.parsed.text;
        if at >= end {
            return None;
        }
        if text.is_any(at, &["me", "i"]) {
            return self.own(at);
        }
        let is_to = |at: usize| text.word(at) == "to" && text.is_word(at + 1);
        if let Some(named) = self.name(at, end) {
            let is_sure = named.known.is_some() && !named.is_body;
            return Some(named).filter(|named| is_sure || is_to(named.tokens.end));
        }
        let word = text.word(at);
        let is_ordinary = names::is_common_word(word)
            || names::is_wordy_name(word)
            || NOBODY.contains(&word)
            || unsaid::OTHERS.contains(&word);
        let known = self
            .roster
            .named(text.raw_word(at))
            .filter(|known| self.roster.entities[*known].entity_type == EntityType::Person);
        let fits = text.is_word(at) && !is_ordinary && (known.is_some() || is_to(at + 1));
        fits.then(|| Named { tokens: at..at + 1, known, is_body: false })
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
}
