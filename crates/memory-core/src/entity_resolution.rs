//! Which entity a name refers to: within one text, and among the entities that are known.
//!
//! Certain signs come first and are looked up, not weighed: an e-mail address or handle, the same name, a name that only
//! one entity goes by. This module weighs the rest. A name alone never suffices: there must be evidence in the context
//! of both, and clearly more than for the next entity. What is doubtful stays apart and is reported.

use memory_language::similarity;

use crate::entity::{EntityType, as_initials, handle, handles, is_address, letters, normalised_name};
use crate::event::ExtractedEntity;

/// From this score on a name is taken for the entity.
const SURE: f32 = 0.74;
/// By so much the best must lead the next.
const MARGIN: f32 = 0.15;
/// A pair with a lower score is not queued for review.
const DOUBTFUL: f32 = 0.4;
/// The most doubts that are said about one name.
const DOUBTS_MAX: usize = 4;

const SAME_NAME: f32 = 0.6;
const KNOWN_NAME: f32 = 0.55;
const SHORT_NAME: f32 = 0.45;
const LAST_NAME: f32 = 0.42;
const INITIALS: f32 = 0.4;

const CONVERSATION: f32 = 0.3;
const TAKES_PART: f32 = 0.3;
/// What one shared entity without other mentions would add, and the most that all of them add.
const SHARED_EACH: f32 = 0.5;
const SHARED_MAX: f32 = 0.35;
const SAME_SOURCE: f32 = 0.05;
const RECENT: f32 = 0.05;
const RECENT_DAYS: f32 = 30.0;

/// What of the surroundings of an entity is met again in those of a name.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Surroundings {
    /// It goes by exactly this name elsewhere.
    pub is_known_name: bool,
    /// It is mentioned in the same conversation.
    pub same_conversation: bool,
    /// It is among the authors, speakers or participants.
    pub takes_part: bool,
    /// Of each other entity that both are mentioned with, how many mentions that has.
    pub shared: Shared,
    pub same_source: bool,
    /// How long before or after it was mentioned last.
    pub days: Option<f32>,
}

/// Entities in common, each weighed by how rarely it is mentioned.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shared {
    pub number: usize,
    pub weight: f32,
}

impl Shared {
    pub fn add(&mut self, mentions: i64) {
        self.number += 1;
        self.weight += 1.0 / (2.0 + mentions as f32).ln();
    }
}

/// How well an entity fits a name in its context.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// 0 to 1.
    pub score: f32,
    /// For a reader.
    pub reasons: Vec<String>,
    /// There is more evidence than the name, and it has a name that this one may abbreviate.
    may_be_sure: bool,
}

/// What becomes of a name, with indexes into what was weighed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The entity that is meant.
    pub same: Option<usize>,
    /// Those that may be meant too, likeliest first, where none is.
    pub doubts: Vec<usize>,
}

/// One word for a person, which many may be called by.
pub fn is_short_name(entity_type: EntityType, name: &str) -> bool {
    let normalised = normalised_name(name);
    entity_type == EntityType::Person
        && !normalised.contains(' ')
        && !normalised.contains('@')
        && !normalised.is_empty()
}

/// Whether a person's name says in full what another one of the same person abbreviates: "Dana Whitfield", "D. Whitfield".
pub fn is_fuller_name(entity_type: EntityType, name: &str, known: &str) -> bool {
    let words = |name: &str| normalised_name(name).split(' ').map(letters).collect::<Vec<_>>();
    let is_initial = |word: &String| word.chars().count() == 1;
    let (words, known) = (words(name), words(known));
    let fits = |(word, known): (&String, &String)| {
        word == known || (is_initial(known) && word.starts_with(known.as_str()))
    };
    entity_type == EntityType::Person
        && known.len() > 1
        && known.len() <= words.len()
        && words.last() == known.last()
        && words.iter().zip(&known[..known.len() - 1]).all(fits)
        && !words.iter().any(is_initial)
        && known.iter().any(is_initial)
}

/// For each entity of a text the first of those that mean the same in it, or itself.
pub fn coreference(entities: &[ExtractedEntity]) -> Vec<usize> {
    let names: Vec<InText> = entities.iter().map(InText::of).collect();
    let mut leader: Vec<usize> = (0..names.len()).collect();
    // Full names first: they are what the others are short for.
    let mut order: Vec<usize> = leader.clone();
    order.sort_by_key(|at| std::cmp::Reverse(names[*at].words.len()));
    for (place, at) in order.iter().copied().enumerate() {
        let leaders: Vec<usize> =
            order[..place].iter().copied().filter(|other| leader[*other] == *other).collect();
        let fitting = |fits: &dyn Fn(&InText) -> bool| {
            let mut found =
                leaders.iter().filter(|l| names[**l].may_be(&names[at]) && fits(&names[**l])).copied();
            found.next().filter(|_| found.next().is_none())
        };
        let name = &names[at];
        let same = fitting(&|l| l.normalised == name.normalised)
            .or_else(|| fitting(&|l| l.aliases.contains(&name.normalised)))
            .or_else(|| {
                let is_short = name.is_person && name.words.len() == 1;
                let shortens = |l: &InText| {
                    l.words.len() > 1 && [l.words.first(), l.words.last()].contains(&name.words.first())
                };
                is_short.then(|| fitting(&shortens)).flatten()
            });
        if let Some(same) = same {
            leader[at] = same;
        }
    }
    leader
}

/// An entity as a text names it.
struct InText {
    entity_type: EntityType,
    is_person: bool,
    normalised: String,
    words: Vec<String>,
    aliases: Vec<String>,
    addresses: Vec<String>,
}

impl InText {
    fn of(entity: &ExtractedEntity) -> Self {
        let normalised = normalised_name(&entity.name);
        let aliases: Vec<String> = entity.aliases.iter().map(|alias| normalised_name(alias)).collect();
        let is_person = entity.entity_type == EntityType::Person;
        let names = aliases.iter().chain([&normalised]);
        Self {
            addresses: names.filter(|name| is_person && is_address(name)).cloned().collect(),
            words: normalised.split_whitespace().map(str::to_owned).collect(),
            entity_type: entity.entity_type,
            is_person,
            normalised,
            aliases,
        }
    }

    /// Neither type nor addresses distinguish them.
    fn may_be(&self, other: &Self) -> bool {
        let common = || self.addresses.iter().any(|address| other.addresses.contains(address));
        self.entity_type == other.entity_type
            && (self.addresses.is_empty() || other.addresses.is_empty() || common())
    }
}

/// How well the entity of these names fits a name; `None` where they have nothing to do with it.
pub fn fit(entity_type: EntityType, name: &str, names: &[String], around: &Surroundings) -> Option<Fit> {
    let alike = names.iter().filter_map(|known| Some((like_name(entity_type, name, known)?, known)));
    let alike: Vec<((f32, &'static str, bool), &String)> = alike.collect();
    // A first name or a handle is ambiguous until its owner is known: no entity known by one alone is a target.
    let is_target = |known: &str| entity_type != EntityType::Person || normalised_name(known).contains(' ');
    let is_plain = around.is_known_name && names.iter().any(|known| is_target(known))
        || alike.iter().any(|((.., is_slip), known)| !is_slip && is_target(known));
    let best = alike.iter().map(|(alike, _)| (alike.0, alike.1)).max_by(|a, b| a.0.total_cmp(&b.0));
    let known_name = around.is_known_name.then_some((KNOWN_NAME, "a name it goes by"));
    let (by_name, reason) =
        best.into_iter().chain(known_name).max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))?;
    let mut score = by_name;
    let mut reasons = vec![reason.to_owned()];
    let mut is_surrounded = false;
    let mut speaks = |weight: f32, reason: String| {
        score += weight;
        reasons.push(reason);
        is_surrounded = true;
    };
    if around.takes_part {
        speaks(TAKES_PART, "takes part".to_owned());
    }
    if around.same_conversation {
        speaks(CONVERSATION, "in the same conversation".to_owned());
    }
    if around.shared.number > 0 {
        let noun = if around.shared.number == 1 { "entity" } else { "entities" };
        speaks(
            (SHARED_EACH * around.shared.weight).min(SHARED_MAX),
            format!("mentioned with {} {noun} in common", around.shared.number),
        );
    }
    if around.same_source {
        score += SAME_SOURCE;
        reasons.push("from the same source".to_owned());
    }
    if around.days.is_some_and(|days| days <= RECENT_DAYS) {
        score += RECENT;
        reasons.push("at about the same time".to_owned());
    }
    Some(Fit { score: score.min(1.0), reasons, may_be_sure: is_surrounded && is_plain })
}

/// The entity that is meant, or those that may be.
pub fn choose(fits: &[Option<Fit>]) -> Choice {
    let mut ranked: Vec<(usize, &Fit)> =
        fits.iter().enumerate().filter_map(|(at, fit)| Some((at, fit.as_ref()?))).collect();
    ranked.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
    if let Some((at, best)) = ranked.first() {
        let next = ranked.get(1).map_or(0.0, |(_, fit)| fit.score);
        if best.may_be_sure && best.score >= SURE && best.score - next >= MARGIN {
            return Choice { same: Some(*at), doubts: Vec::new() };
        }
    }
    let doubts = ranked.iter().filter(|(_, fit)| fit.score >= DOUBTFUL).take(DOUBTS_MAX);
    Choice { same: None, doubts: doubts.map(|(at, _)| *at).collect() }
}

/// What the likeness of two names says, why, and whether they are no more than spelt alike.
fn like_name(entity_type: EntityType, a: &str, b: &str) -> Option<(f32, &'static str, bool)> {
    let (x, y) = (normalised_name(a), normalised_name(b));
    if x.is_empty() || y.is_empty() {
        return None;
    }
    if x == y {
        return Some((SAME_NAME, "the same name", false));
    }
    if entity_type == EntityType::Person {
        let short = short_form(a, &x, &y).or_else(|| short_form(b, &y, &x));
        if let Some((score, reason)) = short {
            return Some((score, reason, false));
        }
    }
    let kind = if entity_type == EntityType::Person { "person" } else { entity_type.as_str() };
    let (score, reason) = similarity::alike(a, b, kind)?;
    Some((SAME_NAME * score as f32, reason, reason == similarity::SLIP))
}

/// Whether one person's name is a part of another, or made of its letters.
fn short_form(short: &str, normalised: &str, full: &str) -> Option<(f32, &'static str)> {
    let words: Vec<String> = full.split_whitespace().map(letters).filter(|word| !word.is_empty()).collect();
    let [first, .., last] = words.as_slice() else {
        let is_handle = normalised.contains('@') && words.first() == Some(&handle(normalised));
        return is_handle.then_some((SHORT_NAME, "a handle of that name"));
    };
    if normalised.contains('@') {
        let made = handle(normalised);
        let fits = handles(first, last).contains(&made) || made == *first;
        return fits.then_some((SHORT_NAME, "a handle made of the name"));
    }
    if normalised.contains(' ') {
        return None;
    }
    let word = letters(normalised);
    if word == *first {
        return Some((SHORT_NAME, "a first name"));
    }
    if word == *last {
        return Some((LAST_NAME, "a last name"));
    }
    let initials: String = words.iter().filter_map(|word| word.chars().next()).collect();
    (as_initials(short, 2)? == initials).then_some((INITIALS, "initials"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_fuller_where_it_says_what_initials_stand_for() {
        let is_fuller = |name: &str, known: &str| is_fuller_name(EntityType::Person, name, known);
        assert!(is_fuller("Dana Whitfield", "D. Whitfield"));
        assert!(is_fuller("Dana Mary Whitfield", "D. Whitfield"));
        assert!(!is_fuller("Dana Whitfield", "Dana M. Whitfield"), "it leaves an initial out");
        assert!(!is_fuller("Omar Whitfield", "D. Whitfield"));
        assert!(!is_fuller("D. Whitfield", "Dana Whitfield") && !is_fuller("Dana", "D. Whitfield"));
        assert!(!is_fuller_name(EntityType::Org, "Dana Whitfield", "D. Whitfield"));
    }

    fn person(name: &str, aliases: &[&str]) -> ExtractedEntity {
        ExtractedEntity {
            name: name.into(),
            entity_type: EntityType::Person,
            aliases: aliases.iter().map(ToString::to_string).collect(),
            mentions: Vec::new(),
        }
    }

    fn of_person(name: &str, known: &str, around: Surroundings) -> Option<Fit> {
        fit(EntityType::Person, name, &[known.to_owned()], &around)
    }

    const HERE: Surroundings = Surroundings {
        is_known_name: false,
        same_conversation: true,
        takes_part: true,
        shared: Shared { number: 0, weight: 0.0 },
        same_source: false,
        days: None,
    };

    #[test]
    fn a_first_name_is_the_one_full_name_of_its_text_that_has_it() {
        let of = |entities: &[ExtractedEntity]| coreference(entities);
        assert_eq!(of(&[person("Alice", &[]), person("Alice Chen", &[])]), [1, 1]);
        assert_eq!(
            of(&[person("Alice", &[]), person("Alice Chen", &[]), person("Alice Wong", &[])]),
            [0, 1, 2]
        );
        assert_eq!(of(&[person("AC", &[]), person("Alice Chen", &["AC"])]), [1, 1]);
        let mut team = person("Alice", &[]);
        team.entity_type = EntityType::Project;
        assert_eq!(of(&[team, person("Alice Chen", &[])]), [0, 1], "a project is no person");
    }

    #[test]
    fn addresses_tell_people_of_one_name_apart_within_a_text() {
        let a = person("Alice Chen", &["alice@a.example"]);
        let b = person("Alice Chen", &["alice@b.example"]);
        assert_eq!(coreference(&[a.clone(), b.clone()]), [0, 1]);
        assert_eq!(coreference(&[a.clone(), a.clone()]), [0, 0]);
        assert_eq!(coreference(&[a, b, person("Alice Chen", &[])]), [0, 1, 2], "either may be meant");
    }

    #[test]
    fn a_name_alone_never_suffices() {
        let alone = of_person("Alice", "Alice Chen", Surroundings::default());
        let choice = choose(&[alone]);
        assert_eq!(choice, Choice { same: None, doubts: vec![0] });
        let many = Surroundings { same_source: true, days: Some(1.0), ..Surroundings::default() };
        for name in ["Alice", "Alice Chen", "A. Chen", "AC", "@achen"] {
            assert_eq!(choose(&[of_person(name, "Alice Chen", many)]).same, None, "{name}");
        }
        assert_eq!(of_person("Bob", "Alice Chen", HERE), None);
    }

    #[test]
    fn what_surrounds_both_decides_and_only_by_a_margin() {
        let here = of_person("Alice", "Alice Chen", HERE);
        let elsewhere = of_person("Alice", "Alice Wong", Surroundings::default());
        assert_eq!(choose(&[elsewhere.clone(), here.clone()]).same, Some(1));
        let too = of_person("Alice", "Alice Wong", HERE);
        assert_eq!(choose(&[here, too]), Choice { same: None, doubts: vec![0, 1] });
        let mut rare = Surroundings::default();
        rare.shared.add(1);
        assert_eq!(choose(&[of_person("Alice", "Alice Chen", rare)]).same, Some(0));
        let mut common = Surroundings::default();
        common.shared.add(500);
        assert_eq!(choose(&[of_person("Alice", "Alice Chen", common)]).same, None);
    }

    #[test]
    fn names_that_are_only_spelt_alike_are_never_sure() {
        let fit = of_person("Jon Smith", "John Smith", HERE).unwrap();
        assert!(fit.score >= SURE);
        assert_eq!(choose(&[Some(fit)]), Choice { same: None, doubts: vec![0] });
        assert_eq!(choose(&[of_person("J. Smith", "John Smith", HERE)]).same, Some(0));
    }

    #[test]
    fn nobody_is_taken_for_whom_a_first_name_stands_for() {
        for (name, known) in [("Alice Chen", "Alice"), ("Alice Chen", "@achen"), ("@alice", "Alice")] {
            assert_eq!(
                choose(&[of_person(name, known, HERE)]),
                Choice { same: None, doubts: vec![0] },
                "{name} for {known}"
            );
        }
        let both = ["Alice".to_owned(), "Alice Chen".to_owned()];
        let known = fit(EntityType::Person, "Alice", &both, &HERE);
        assert_eq!(choose(&[known]).same, Some(0), "its owner was decided");
    }

    #[test]
    fn reasons_are_said() {
        let mut around = HERE;
        around.shared.add(3);
        let fit = of_person("AC", "Alice Chen", around).unwrap();
        assert_eq!(
            fit.reasons,
            ["initials", "takes part", "in the same conversation", "mentioned with 1 entity in common"]
        );
    }
}
