//! Whether two directives are about the same thing, and whether the later takes the place of the earlier.

use std::collections::BTreeSet;

use memory_language::lexicon::english_stem;

use super::conditions::reason;
use super::ended::{ended, given_up, names_rule};
use super::kinds::are_of_one_kind;
use super::length;
use super::parts::{
    code, fills_in, is_contrast, is_denial, is_less, is_number, says_how_many, says_little, used,
};
use super::permission::allowed_setting;
use super::sentence::Sentence;
use super::settings::settings;
use super::stems::{is_member, members, stems_of};
use super::words::{GROUPS, list};

/// Of two sets of words, the smaller must have this share of its words in the other to be about the same thing.
const SAME_SHARE: f32 = 0.6;
/// The same of what a later one is about, where it is not to be about a part only: "draft PRs" are not all PRs.
const WHOLE_SHARE: f32 = 0.7;
/// The same of all their words, for two that say the same.
const ALIKE_SHARE: f32 = 0.75;
/// What a directive says, in words that can be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gist {
    is_negative: bool,
    is_permission: bool,
    /// It says that something has changed.
    is_change: bool,
    /// Stems of what is wanted, or not wanted.
    about: BTreeSet<String>,
    /// Stems of what is set against it: "never npm" of "use yarn, never npm".
    unwanted: BTreeSet<String>,
    /// Stems of each thing that is said to be over.
    ended: Vec<BTreeSet<String>>,
    /// The one thing that is to be used for a purpose: "Jest" of "use Jest for unit tests".
    used: Option<String>,
    /// Stems of what is wanted less: "over coffee", "rather than coffee".
    less: BTreeSet<String>,
    /// Members of groups of which one holds at a time.
    members: Vec<(usize, usize)>,
    /// Up to what is filled in: "format dates in", "my favourite author is", "call me".
    frame: Option<BTreeSet<String>>,
    /// Stems of what it is for: "in Go code", "on Mondays".
    settings: BTreeSet<String>,
    /// Of what is wanted, the stems that name neither its setting nor how it is to be.
    core: BTreeSet<String>,
    /// The same without members of groups: what these are said of.
    objects: BTreeSet<String>,
    /// Pieces of code that are wanted, or not wanted.
    code: BTreeSet<String>,
    /// What is over is said to have been a rule.
    ends_rule: bool,
    /// It only tells what has been given up for another.
    drops: bool,
    /// Stems of where it says that something is fine, or may be done.
    allowed_in: BTreeSet<String>,
    /// It bounds the length of answers, or says that there is no bound.
    bounds_length: bool,
    frees_length: bool,
    /// "200" of "under 200 words".
    numbers: BTreeSet<String>,
    condition: BTreeSet<String>,
}

impl Gist {
    pub fn new(quote: &str, condition: Option<&str>, is_permission: bool) -> Self {
        let condition = condition.unwrap_or_default();
        let statement = quote.replacen(condition, " ", usize::from(!condition.is_empty()));
        let whole = Sentence::new(&statement, 0..statement.len());
        // Why something is wanted says nothing of what.
        let reason = reason(&whole, 0, whole.len());
        let sentence =
            Sentence::new(&statement, 0..whole.bytes(0, reason).map_or(statement.len(), |it| it.end));
        let end = sentence.len();
        let less_at = (0..end).find(|at| is_less(&sentence, *at)).unwrap_or(end);
        let wanted_end = (0..less_at).find(|at| is_contrast(&sentence, *at)).unwrap_or(less_at);
        let words = |from: usize, to: usize| (from..to).filter_map(|at| sentence.word(at));
        let is_negative = words(0, wanted_end.min(6)).any(is_denial);
        let frame_end = (1..less_at).find(|at| fills_in(&sentence, *at));
        // "Short" and "long" are said of what is wanted, though they say little elsewhere.
        let frame = |at: usize| -> BTreeSet<String> {
            let members = words(0, at).filter(|word| is_member(word)).map(str::to_owned);
            stems_of(&sentence, 0, at).into_iter().chain(members).collect()
        };
        let frame = frame_end.map(frame).filter(|frame| !frame.is_empty());
        let condition_read = Sentence::new(condition, 0..condition.len());
        let condition = stems_of(&condition_read, 0, condition_read.len());
        let settings =
            settings(&sentence, frame_end.filter(|at| !is_negative && sentence.word(*at) == Some("in")));
        let mut about = stems_of(&sentence, 0, wanted_end);
        if is_permission {
            // "The odd emoji" is of emojis.
            about.retain(|stem| !says_how_many(stem));
        }
        let core: BTreeSet<String> =
            about.difference(&settings).filter(|stem| !says_little(stem)).cloned().collect();
        let of_groups: BTreeSet<String> =
            words(0, wanted_end).filter(|word| is_member(word)).map(english_stem).collect();
        let objects = core.difference(&of_groups).cloned().collect();
        Self {
            is_negative: is_negative && !is_permission,
            is_permission,
            // "… for all frontend tests now".
            is_change: list("changed").within(&whole, 0, whole.len())
                || condition_read.tokens.last().is_some_and(|token| token.text == "now"),
            about,
            unwanted: stems_of(&sentence, wanted_end, less_at),
            ended: ended(&whole, whole.len())
                .into_iter()
                .map(|(from, to)| what_ended(&whole, from, to))
                .collect(),
            drops: is_permission && given_up(&whole).is_some(),
            allowed_in: allowed_in(quote),
            bounds_length: length::bounds(&sentence),
            frees_length: length::frees(&whole),
            used: (0..less_at).find_map(|at| used(&sentence, at)),
            less: stems_of(&sentence, less_at + 1, end).difference(&settings).cloned().collect(),
            members: members(words(0, wanted_end)),
            frame,
            settings,
            core,
            objects,
            code: (0..wanted_end).filter_map(|at| code(&sentence, at)).collect(),
            ends_rule: names_rule(&whole),
            numbers: words(0, end).filter(|word| is_number(word)).map(str::to_owned).collect(),
            condition,
        }
    }

    /// Whether this, which is later, takes the place of an earlier one.
    pub fn replaces(&self, earlier: &Self) -> bool {
        if self.is_on_other_condition(earlier) {
            return false;
        }
        // The condition of the earlier one says of what it is, too.
        let about_earlier: BTreeSet<String> = earlier.about.union(&earlier.condition).cloned().collect();
        if self.drops {
            let is_wanted = !earlier.is_negative && !earlier.is_permission;
            let is_over = |ended: &BTreeSet<String>| {
                is_mostly_in(ended, &about_earlier) && meets(ended, &earlier.about)
            };
            return is_wanted && self.ended.iter().any(is_over);
        }
        let is_other_code =
            !self.code.is_empty() && !earlier.code.is_empty() && self.code.is_disjoint(&earlier.code);
        let is_same_thing = is_mostly(&self.about, &about_earlier)
            && (self.core.is_empty() || self.is_as_wide(earlier, &about_earlier))
            && (earlier.core.is_empty() || is_mostly(&earlier.core, &self.about))
            && !is_other_code;
        let is_against = self.is_negative != earlier.is_negative || self.is_permission;
        if self.ends(earlier) {
            return !earlier.is_permission;
        }
        // What is said of a setting of its own changes nothing elsewhere.
        if self.narrows(earlier) {
            return false;
        }
        if earlier.is_permission {
            return is_same_thing && !self.is_permission;
        }
        let turned = is_mostly(&self.about, &earlier.less)
            && (is_mostly(&self.less, &earlier.about) || self.is_change || self.less.is_empty());
        let dropped = is_mostly(&self.less, &earlier.about) && self.is_change;
        turned
            || dropped
            || self.sets_against(earlier)
            || self.swaps(earlier)
            || (is_against && is_same_thing)
            || self.is_other_member(earlier)
            || self.refills(earlier)
            || self.counts_otherwise(earlier)
            || (self.frees_length && earlier.bounds_length)
    }

    fn is_on_other_condition(&self, earlier: &Self) -> bool {
        let spoken_of: BTreeSet<String> = earlier.condition.union(&earlier.about).cloned().collect();
        !self.condition.is_empty()
            && !is_mostly(&self.condition, &earlier.condition)
            && !is_mostly_in(&self.condition, &spoken_of)
    }

    /// The same where both stand in one text, which takes nothing back without saying so.
    pub fn replaces_within_text(&self, earlier: &Self) -> bool {
        let says_so = self.is_change || self.is_permission || !self.ended.is_empty();
        says_so && self.replaces(earlier)
    }

    /// It says that what the earlier one wants is over, or that its rule is.
    fn ends(&self, earlier: &Self) -> bool {
        let all: BTreeSet<String> = earlier.about.union(&earlier.condition).cloned().collect();
        let wants = |ended: &BTreeSet<String>| {
            is_mostly_in(ended, &all) && (!earlier.is_negative || self.is_permission || self.ends_rule)
        };
        self.ended.iter().any(wants)
    }

    /// What one wants is what the other sets against what it wants: "use npm" and "use yarn, never npm".
    fn sets_against(&self, earlier: &Self) -> bool {
        let is_so = |one: &Self, other: &Self| {
            let all: BTreeSet<String> = other.about.union(&other.unwanted).cloned().collect();
            !one.is_negative && is_mostly_in(&other.unwanted, &one.about) && is_mostly_in(&one.about, &all)
        };
        is_so(self, earlier) || is_so(earlier, self)
    }

    /// It names something else of the same kind, or for the same purpose, and says that this is so now.
    fn swaps(&self, earlier: &Self) -> bool {
        let is_wanted = self.is_change && !self.is_negative && !earlier.is_negative && !self.is_permission;
        if !is_wanted || self.condition != earlier.condition {
            return false;
        }
        let mut new = self.about.difference(&earlier.about);
        let mut old = earlier.about.difference(&self.about);
        let (Some(new), Some(old), None, None) = (new.next(), old.next(), new.next(), old.next()) else {
            return false;
        };
        let has_purpose = !self.settings.is_empty() || !self.condition.is_empty();
        let for_the_same = has_purpose
            && self.settings == earlier.settings
            && self.used.as_ref() == Some(new)
            && earlier.used.as_ref() == Some(old);
        for_the_same || are_of_one_kind(new, old)
    }

    /// Whether it is about no more than the earlier one: "add comments to public functions" is not about all comments.
    fn is_as_wide(&self, earlier: &Self, about_earlier: &BTreeSet<String>) -> bool {
        let says_so = self.is_change || self.is_permission || earlier.is_permission;
        let common = self.core.intersection(about_earlier).count() as f32;
        common >= WHOLE_SHARE * self.core.len() as f32 || (says_so && is_mostly(&self.core, about_earlier))
    }

    /// Whether it is for something that the earlier one does not speak of.
    fn narrows(&self, earlier: &Self) -> bool {
        let is_new = |stem: &&String| {
            ![&earlier.settings, &earlier.condition, &earlier.about].iter().any(|set| set.contains(*stem))
        };
        self.settings.iter().any(|stem| is_new(&stem)) || (self.is_apart(earlier) && earlier.is_apart(self))
    }

    /// Whether it has a setting that the other has not.
    fn is_apart(&self, other: &Self) -> bool {
        self.settings.difference(&other.settings).any(|stem| !other.condition.contains(stem))
    }

    /// The same but for its numbers: "under 200 words", "under 100 words".
    fn counts_otherwise(&self, earlier: &Self) -> bool {
        let rest = |gist: &Self| gist.about.difference(&gist.numbers).cloned().collect::<BTreeSet<_>>();
        self.numbers != earlier.numbers
            && !self.numbers.is_empty()
            && !earlier.numbers.is_empty()
            && self.is_negative == earlier.is_negative
            && self.condition == earlier.condition
            && rest(self) == rest(earlier)
    }

    /// Another of the things of which one holds at a time.
    fn is_other_member(&self, earlier: &Self) -> bool {
        let is_against = self.is_negative != earlier.is_negative;
        self.members.iter().any(|(group, member)| {
            earlier.members.iter().any(|(other_group, other)| {
                let excludes = group == other_group && (member != other) != is_against;
                excludes && (GROUPS[*group].is_enough || self.shares_the_rest(earlier))
            })
        })
    }

    /// Whether what is said beside the members of groups is said of the same.
    fn shares_the_rest(&self, earlier: &Self) -> bool {
        if self.objects.is_empty() || earlier.objects.is_empty() {
            return self.objects == earlier.objects && meets(&self.about, &earlier.about);
        }
        is_mostly_in(&self.objects, &earlier.objects)
            || self.is_change && is_mostly(&self.objects, &earlier.objects)
    }

    /// The same blank, filled in otherwise.
    fn refills(&self, earlier: &Self) -> bool {
        let (Some(frame), Some(before)) = (&self.frame, &earlier.frame) else { return false };
        // Several things may be unwanted: "never suggest restaurants with loud music".
        frame == before
            && !self.is_negative
            && !earlier.is_negative
            && self.condition == earlier.condition
            && self.about != earlier.about
    }

    /// Whether this, which is later, allows something only where the earlier one does not say that it holds: "bullets are fine in the
    /// changelog" leaves "never use bullets" as it is.
    pub fn is_exception_to(&self, earlier: &Self) -> bool {
        let is_new = |stem: &String| {
            ![&earlier.settings, &earlier.condition, &earlier.about].iter().any(|set| set.contains(stem))
        };
        self.allowed_in.iter().any(is_new)
    }

    /// Whether each is said of a case that the other does not speak of: "when I ask about books", "when I ask about audiobooks".
    pub fn is_for_another_case_than(&self, earlier: &Self) -> bool {
        let has_own = |one: &Self, other: &Self| {
            one.condition.iter().any(|stem| !other.condition.contains(stem) && !other.about.contains(stem))
        };
        has_own(self, earlier) && has_own(earlier, self)
    }

    /// Whether both say the same, on the same condition.
    pub fn repeats(&self, other: &Self) -> bool {
        let common = self.about.intersection(&other.about).count() as f32;
        let all = self.about.union(&other.about).count() as f32;
        self.is_negative == other.is_negative
            && self.is_permission == other.is_permission
            && common >= ALIKE_SHARE * all
            && (self.condition == other.condition || is_mostly(&self.condition, &other.condition))
            && self.members == other.members
    }
}

/// Stems of the setting that something is said to be fine in: "bullets are fine in the changelog".
fn allowed_in(quote: &str) -> BTreeSet<String> {
    let sentence = Sentence::new(quote, 0..quote.len());
    let Some((_, _, (from, to))) = allowed_setting(&sentence) else { return BTreeSet::new() };
    let of_setting = stems_of(&sentence, from, to);
    settings(&sentence, None).intersection(&of_setting).cloned().collect()
}

/// What is over, without the words that only say that it was a rule.
fn what_ended(sentence: &Sentence<'_>, from: usize, to: usize) -> BTreeSet<String> {
    let says_little = ["rule", "polici", "policy", "requir", "requirement", "ban", "more", "longer", "run"];
    stems_of(sentence, from, to).into_iter().filter(|stem| !says_little.contains(&stem.as_str())).collect()
}

fn meets(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    !one.is_disjoint(other)
}

/// Whether most of one is in the other.
fn is_mostly_in(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    !one.is_empty() && one.intersection(other).count() as f32 >= SAME_SHARE * one.len() as f32
}

/// Whether the smaller set is for the most part in the other.
fn is_mostly(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let least = one.len().min(other.len());
    least > 0 && one.intersection(other).count() as f32 >= SAME_SHARE * least as f32
}
