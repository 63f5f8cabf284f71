//! Which names are compared at all: those that share a key.

use super::form::Form;
use crate::hash::Fnv1a;

/// In a block of more names than this each is compared with its next [`WINDOW`] only.
const SMALL_BLOCK: usize = 24;
const WINDOW: usize = 6;
/// Words longer than this get no keys for slips: each would need as many keys as it has letters.
const MAX_SLIP_CHARS: usize = 40;
const MIN_SLIP_CHARS: usize = 5;
/// How many letters a short form may lack.
const MAX_LEFT_OUT: usize = 3;

/// What a key is made of; keys of different kinds never match.
#[derive(Clone, Copy)]
enum Key {
    Spelling,
    Joined,
    SortedWords,
    /// The joined words with one letter left out, or none: names one slip apart share one.
    Slip,
    /// The joined words without their last letters.
    Start,
    Acronym,
    Initial,
}

/// Pairs of indexes into `forms`, the smaller first, each once. Their number is at most linear in that of the
/// names and their letters.
pub(super) fn pairs(forms: &[Form<'_>]) -> impl Iterator<Item = (usize, usize)> {
    let mut keys: Vec<(u64, u32)> = Vec::new();
    for (at, form) in forms.iter().enumerate() {
        keys_of(form, |key| keys.push((key, at as u32)));
    }
    keys.sort_unstable();
    keys.dedup();
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for block in keys.chunk_by(|a, b| a.0 == b.0) {
        let reach = if block.len() <= SMALL_BLOCK { SMALL_BLOCK } else { WINDOW };
        for (at, (_, a)) in block.iter().enumerate() {
            pairs.extend(block.iter().skip(at + 1).take(reach).map(|(_, b)| (*a, *b)));
        }
    }
    add_neighbours(forms, &mut pairs);
    let linked = forms.iter().enumerate().filter_map(|(at, form)| Some((at as u32, form.full_name? as u32)));
    pairs.extend(linked.map(|(short, full)| (short.min(full), short.max(full))));
    pairs.sort_unstable();
    pairs.dedup();
    pairs.into_iter().map(|(a, b)| (a as usize, b as usize))
}

fn keys_of(form: &Form<'_>, mut add: impl FnMut(u64)) {
    // Letters that distinguish things are part of a key, but an initial of a person may be missing.
    let told_apart = |key: Key| {
        let letters = if form.is_person { &[] } else { form.letters.as_slice() };
        Hash::new(key).parts(&form.numbers).parts(letters)
    };
    add(Hash::new(Key::Spelling).parts(&form.numbers).chars(form.spelling.chars()).value());
    if form.words.is_empty() {
        return;
    }
    let joined: Vec<char> = form.joined.chars().collect();
    add(told_apart(Key::Joined).chars(joined.iter().copied()).value());
    if form.words.len() > 1 {
        add(told_apart(Key::SortedWords).parts(&form.sorted_words()).value());
    }
    if (MIN_SLIP_CHARS..=MAX_SLIP_CHARS).contains(&joined.len()) {
        let slip = told_apart(Key::Slip);
        add(slip.chars(joined.iter().copied()).value());
        for left_out in 0..joined.len() {
            let rest = joined.iter().enumerate().filter(|(at, _)| *at != left_out);
            add(slip.chars(rest.map(|(_, c)| *c)).value());
        }
    }
    for left_out in 0..=MAX_LEFT_OUT.min(joined.len().saturating_sub(MIN_SLIP_CHARS - 2)) {
        add(told_apart(Key::Start).chars(joined[..joined.len() - left_out].iter().copied()).value());
    }
    for acronym in form.acronym.iter().chain(&form.initials) {
        add(Hash::new(Key::Acronym).parts(&form.numbers).chars(acronym.chars()).value());
    }
    if form.is_person
        && let [first, .., last] = form.parts.as_slice()
    {
        add(Hash::new(Key::Initial).chars(first.chars().take(1)).chars(last.chars()).value());
    }
}

/// Names next to each other in alphabetical order, for slips that no key foresees.
fn add_neighbours(forms: &[Form<'_>], pairs: &mut Vec<(u32, u32)>) {
    let mut order: Vec<u32> = (0..forms.len() as u32).filter(|at| forms[*at as usize].length > 0).collect();
    order.sort_by_cached_key(|at| {
        let form = &forms[*at as usize];
        (form.numbers.clone(), form.letters.clone(), form.joined.clone())
    });
    for (at, a) in order.iter().enumerate() {
        let next = order.iter().skip(at + 1).take(WINDOW);
        pairs.extend(next.map(|b| (*a.min(b), *a.max(b))));
    }
}

/// The hash of a key. Names whose keys collide are compared in vain, no more.
#[derive(Clone, Copy)]
struct Hash(Fnv1a);

impl Hash {
    fn new(key: Key) -> Self {
        Self(Fnv1a::default().bytes(&[key as u8]))
    }

    fn chars(self, chars: impl Iterator<Item = char>) -> Self {
        Self(chars.fold(self.0, Fnv1a::char))
    }

    fn value(self) -> u64 {
        self.0.value()
    }

    fn parts(self, parts: &[impl AsRef<str>]) -> Self {
        const END: char = '\u{1f}';
        parts
            .iter()
            .fold(self, |hash, part| hash.chars(part.as_ref().chars().chain([END])))
            .chars([END].into_iter())
    }
}
