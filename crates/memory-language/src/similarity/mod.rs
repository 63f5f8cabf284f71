//! Names that probably mean the same thing, among many and without comparing all with all.
//!
//! Names are brought to a form that leaves out case, separators, plurals and legal suffixes (`form.rs`);
//! those that share a key are compared (`blocks.rs`). Numbers and single letters distinguish things, so names
//! that differ in them are never alike: `v1` and `v2`, `Server A` and `Server B`.

mod blocks;
mod form;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use form::Form;

/// Two names that are probably one, and why. `a` comes before `b` in code point order.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeCandidate {
    pub a: String,
    pub b: String,
    /// How sure, from 0.6 to 1, in hundredths.
    pub score: f64,
    /// For a reader, for example "the same words in another order".
    pub reason: String,
}

/// Longer names are only compared for equal forms, since edit distance takes quadratic time.
const MAX_COMPARED_CHARS: usize = 100;

/// The reason of names that differ by one typing error.
pub const SLIP: &str = "spelt almost the same";

const DIFFERENT_TYPES: f64 = 0.85;
const UNKNOWN_TYPE: f64 = 0.95;
const MIN_SCORE: f64 = 0.6;

/// The most alike of `names`, given with their types (empty where unknown), best first; at most `limit`
/// pairs. The order of the input does not matter. Takes seconds for 100,000 names.
pub fn similar_names<N, T>(names: &[(N, T)], limit: usize) -> Vec<MergeCandidate>
where
    N: AsRef<str>,
    T: AsRef<str>,
{
    let mut named: Vec<(&str, &str)> = names.iter().map(|(n, t)| (n.as_ref(), t.as_ref())).collect();
    named.sort_unstable();
    named.dedup_by_key(|(name, _)| *name);
    let mut forms: Vec<Form<'_>> = named.iter().map(|(name, kind)| Form::of(name, kind)).collect();
    form::link_first_names(&mut forms);
    let alike = |(a, b): (usize, usize)| {
        let is_first_name = forms[a].full_name == Some(b) || forms[b].full_name == Some(a);
        let (score, reason) = likeness(&forms[a], &forms[b], is_first_name)?;
        Some((Reverse((score * 100.0).round() as u32), a, b, reason))
    };
    let mut found: Vec<_> = blocks::pairs(&forms).filter_map(alike).collect();
    found.sort_unstable_by_key(|(score, a, b, _)| (*score, *a, *b));
    let candidate =
        |(Reverse(hundredths), a, b, reason): (Reverse<u32>, usize, usize, &str)| MergeCandidate {
            a: forms[a].name.to_owned(),
            b: forms[b].name.to_owned(),
            score: f64::from(hundredths) / 100.0,
            reason: if forms[a].kind == forms[b].kind {
                reason.to_owned()
            } else {
                format!("{reason}; their types differ")
            },
        };
    found.into_iter().take(limit).map(candidate).collect()
}

/// The names that a writer of `name` most probably meant, best first: equal but for case and
/// separators, then a few letters away, then longer or shorter by whole words.
pub fn closest_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    const MIN_CONTAINED_CHARS: usize = 4;
    let wanted = Form::of(name, "");
    let length = name.chars().count();
    let lower = name.to_lowercase();
    let far = length + 1;
    let distance = |other: &str| {
        let form = Form::of(other, "");
        let other_length = other.chars().count();
        if form.spelling == wanted.spelling && !form.spelling.is_empty() {
            return Some(0);
        }
        let allowed = (length / 4).max(usize::from(length > 2));
        if length.max(other_length) > MAX_COMPARED_CHARS || other.is_empty() {
            return None;
        }
        let edits = (length.abs_diff(other_length) <= allowed)
            .then(|| strsim::osa_distance(&lower, &other.to_lowercase()))
            .filter(|edits| *edits <= allowed);
        let contained = || {
            let (short, long) = if length < other_length { (&wanted, &form) } else { (&form, &wanted) };
            let enough = length.min(other_length) >= MIN_CONTAINED_CHARS;
            (enough && long.has_words_of(short)).then_some(far)
        };
        edits.or_else(contained)
    };
    let mut found: Vec<(usize, &str)> =
        known.into_iter().filter_map(|other| Some((distance(other)?, other))).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(limit).map(|(_, other)| other).collect()
}

/// How alike two names of things of one type are, from 0.6 to 1, and the reason.
pub fn alike(a: &str, b: &str, kind: &str) -> Option<(f64, &'static str)> {
    likeness(&Form::of(a, kind), &Form::of(b, kind), false)
}

/// How alike two names are, and the reason; `None` below [`MIN_SCORE`].
fn likeness(a: &Form<'_>, b: &Form<'_>, is_first_name: bool) -> Option<(f64, &'static str)> {
    let types = match (a.kind == b.kind, a.kind.is_empty() || b.kind.is_empty()) {
        (true, _) => 1.0,
        (_, true) => UNKNOWN_TYPE,
        _ => DIFFERENT_TYPES,
    };
    let first_name = || is_first_name.then_some((0.75, "a first name and the only full name that has it"));
    let (score, reason) = same_form(a, b).or_else(first_name).or_else(|| near_form(a, b))?;
    let score = score * types;
    (score >= MIN_SCORE).then_some((score, reason))
}

/// Names whose forms are equal in some respect.
fn same_form(a: &Form<'_>, b: &Form<'_>) -> Option<(f64, &'static str)> {
    if a.numbers != b.numbers {
        return None;
    }
    if a.spelling == b.spelling {
        let case_only = a.name.to_lowercase() == b.name.to_lowercase();
        return Some(if case_only {
            (0.99, "the same but for upper and lower case")
        } else {
            (
                0.97,
                if a.has_accents == b.has_accents {
                    "the same but for case, spaces and separators"
                } else {
                    "the same but for accents"
                },
            )
        });
    }
    if a.words.is_empty() || b.words.is_empty() {
        return None;
    }
    if a.letters == b.letters {
        if a.joined == b.joined {
            let legal = a.has_suffix != b.has_suffix;
            return Some(if legal {
                (0.94, "the same but for a legal form or an article")
            } else {
                (0.93, "the same but for singular and plural")
            });
        }
        if a.sorted_words() == b.sorted_words() {
            return Some((0.9, "the same words in another order"));
        }
    }
    let both_people = a.is_person && b.is_person;
    let initial_left_out = a.letters.is_empty() != b.letters.is_empty();
    (both_people && initial_left_out && a.joined == b.joined && a.words.len() > 1)
        .then_some((0.86, "the same but for an initial"))
}

/// Names that are a slip or a shortening apart.
fn near_form(a: &Form<'_>, b: &Form<'_>) -> Option<(f64, &'static str)> {
    if a.length.max(b.length) > MAX_COMPARED_CHARS || a.numbers != b.numbers {
        return None;
    }
    if a.is_person && b.is_person && (abbreviates(a, b) || abbreviates(b, a)) {
        return Some((0.8, "a first name and its initial"));
    }
    if is_acronym_of(a, b) || is_acronym_of(b, a) {
        return Some((0.75, "an acronym and what it stands for"));
    }
    if a.letters != b.letters {
        return None;
    }
    if is_slip(a, b) {
        return Some((0.95 * strsim::jaro_winkler(&a.joined, &b.joined), SLIP));
    }
    (a.kind == b.kind && (shortens(a, b) || shortens(b, a)))
        .then_some((0.82, "one is a short form of the other"))
}

/// One word differs, by one slip of the pen.
fn is_slip(a: &Form<'_>, b: &Form<'_>) -> bool {
    if a.words.len() != b.words.len() {
        return slipped(&a.joined, &b.joined, false);
    }
    let one_slipped = |a: &[String], b: &[String]| {
        let mut different = a.iter().zip(b).filter(|(x, y)| x != y);
        let (Some((x, y)), None) = (different.next(), different.next()) else { return false };
        slipped(x, y, a.len() > 1)
    };
    one_slipped(&a.words, &b.words) || one_slipped(&a.plain_words, &b.plain_words)
}

/// A letter left out or doubled, two letters swapped, or another letter inside a long word. Short words and
/// first and last letters make different names too easily (Bob and Rob, Mario and Maria), unless the name has
/// another word (`in_company`), as in "Jon Smith".
fn slipped(x: &str, y: &str, in_company: bool) -> bool {
    const TWO_SLIPS_CHARS: usize = 10;
    let (x, y) = if x.chars().count() <= y.chars().count() { (x, y) } else { (y, x) };
    let (short, long): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
    if short.first() != long.first() || long.len() - short.len() > 1 {
        return false;
    }
    match strsim::osa_distance(x, y) {
        1 if short.len() < long.len() => {
            let appended = long.starts_with(&short);
            !appended && short.len() >= if in_company { 3 } else { 5 }
        }
        1 => {
            let differing = short.iter().zip(&long).filter(|(a, b)| a != b).count();
            let at_end = short.last() != long.last();
            match (differing, in_company) {
                (2, _) => short.len() >= 5,
                (_, true) => !at_end && short.len() >= 5,
                (_, false) => !at_end && short.len() >= 7,
            }
        }
        2 => short.len() >= TWO_SLIPS_CHARS && short.last() == long.last(),
        _ => false,
    }
}

/// "Postgres" for "PostgreSQL", "Mongo" for "MongoDB": the start of a word, or the name without what says
/// only that it is software. A derived word ("import", "importer") is another thing.
fn shortens(short: &Form<'_>, long: &Form<'_>) -> bool {
    const SOFTWARE: [&str; 4] = ["db", "js", "sql", "ql"];
    const DERIVED: [&str; 20] = [
        "s", "es", "er", "or", "ed", "ing", "ion", "ly", "ist", "ism", "ian", "al", "ic", "ity", "en", "in",
        "an", "ery", "ive", "ure",
    ];
    let Some(rest) = long.joined.strip_prefix(short.joined.as_str()) else { return false };
    let length = short.length;
    if SOFTWARE.contains(&rest) {
        return length >= 3;
    }
    let whole_words = long.words.starts_with(&short.words);
    let rest_length = rest.chars().count();
    !whole_words && length >= 6 && (2..=3).contains(&rest_length) && !DERIVED.contains(&rest)
}

/// "J. Smith" for "John Smith".
fn abbreviates(short: &Form<'_>, long: &Form<'_>) -> bool {
    let ([initial, .., last], [first, .., full_last]) = (short.parts.as_slice(), long.parts.as_slice())
    else {
        return false;
    };
    form::is_letter(initial)
        && !form::is_letter(first)
        && !form::is_letter(last)
        && first.starts_with(initial.as_str())
        && last == full_last
        && short.parts.len() <= long.parts.len()
}

fn is_acronym_of(short: &Form<'_>, long: &Form<'_>) -> bool {
    short.acronym.as_deref().is_some_and(|acronym| long.initials.as_deref() == Some(acronym))
}
