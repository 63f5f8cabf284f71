//! Verbs and their forms: which words tell of a deed, of harm or of a shift, and in what tense.

use std::sync::LazyLock;

use super::data_file::{DataFault, loaded};
use super::lists;
use super::wordset::WordMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Something that is done and then is done: "send", "repair".
    Deed,
    /// Being, meaning, saying: nothing is done by it.
    Idle,
    /// Something goes wrong: "fail", "leak".
    Harm,
    /// Something becomes more, less or other: "rise", "postpone".
    Shift,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a form such as set is several at once")]
pub(super) struct Verb {
    pub(super) class: Class,
    pub(super) base: bool,
    pub(super) third: bool,
    pub(super) past: bool,
    pub(super) participle: bool,
    pub(super) ing: bool,
}

static FORMS: LazyLock<WordMap<String, Verb>> = LazyLock::new(|| loaded(read()));

/// The forms of all verbs. A word of two classes is of the one that is read first.
pub(super) fn read() -> Result<WordMap<String, Verb>, DataFault> {
    let mut forms = WordMap::default();
    for (class, section) in
        [(Class::Idle, "idle"), (Class::Harm, "harm"), (Class::Shift, "shift"), (Class::Deed, "deed")]
    {
        for (line, verb) in lists::VERBS_FILE.section(section)? {
            match verb.split(' ').collect::<Vec<_>>().as_slice() {
                [base] => {
                    put(&mut forms, class, base, |verb| verb.base = true);
                    inflect(&mut forms, class, base, true);
                }
                [base, past, participle] => {
                    put(&mut forms, class, base, |verb| verb.base = true);
                    put(&mut forms, class, past, |verb| verb.past = true);
                    put(&mut forms, class, participle, |verb| verb.participle = true);
                    inflect(&mut forms, class, base, false);
                }
                _ => return Err(lists::VERBS_FILE.fault(line, "a verb has one form or three")),
            }
        }
    }
    Ok(forms)
}

fn put(forms: &mut WordMap<String, Verb>, class: Class, form: &str, mark: impl Fn(&mut Verb)) {
    let verb = forms.entry(form.to_owned()).or_insert(Verb {
        class,
        base: false,
        third: false,
        past: false,
        participle: false,
        ing: false,
    });
    if verb.class == class {
        mark(verb);
    }
}

/// The regular forms of a verb; of an irregular one only those in -s and -ing.
fn inflect(forms: &mut WordMap<String, Verb>, class: Class, base: &str, past: bool) {
    let bytes = base.as_bytes();
    let vowel = |c: u8| matches!(c, b'a' | b'e' | b'i' | b'o' | b'u');
    let length = bytes.len();
    let consonant_y = base.ends_with('y') && length > 2 && !vowel(bytes[length - 2]);
    put(forms, class, &third_of(base), |verb| verb.third = true);
    // "plan", "submit": consonant, vowel, consonant doubles the last; harmless where it does not.
    let doubles = length > 2
        && !vowel(bytes[length - 1])
        && !matches!(bytes[length - 1], b'w' | b'x' | b'y')
        && vowel(bytes[length - 2])
        && !vowel(bytes[length - 3]);
    let mut stems = vec![base.strip_suffix('e').unwrap_or(base).to_owned()];
    if doubles {
        stems.push(format!("{base}{}", &base[length - 1..]));
    }
    for stem in stems {
        put(forms, class, &format!("{stem}ing"), |verb| verb.ing = true);
        if past {
            let stem = if consonant_y { format!("{}i", &base[..length - 1]) } else { stem };
            put(forms, class, &format!("{stem}ed"), |verb| {
                verb.past = true;
                verb.participle = true;
            });
        }
    }
}

/// The form of a verb for one other person: "carries", "does".
pub(super) fn third_of(base: &str) -> String {
    let is_vowel = |c: char| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u');
    match base.strip_suffix('y') {
        Some(stem) if stem.len() > 1 && !stem.ends_with(is_vowel) => format!("{stem}ies"),
        _ if base.ends_with(['s', 'x', 'o']) || base.ends_with("ch") || base.ends_with("sh") => {
            format!("{base}es")
        }
        _ => format!("{base}s"),
    }
}

/// Whether a word is the base of a verb and not its past too: "know", "do", "re-enable", but not "put" or "be".
pub(super) fn is_only_base(word: &str) -> bool {
    word != "be" && of(word.strip_prefix("re-").unwrap_or(word)).is_some_and(|verb| verb.base && !verb.past)
}

/// What a word in lower case is as a verb.
pub(super) fn of(word: &str) -> Option<Verb> {
    FORMS.get(word).copied()
}

/// The base of a form in -ing, as far as it is known: "checking", "making", "planning".
pub(super) fn base_of(ing: &str) -> Option<String> {
    let stem = ing.strip_suffix("ing")?;
    let mut last = stem.chars().rev();
    let single = (last.next() == last.next()).then(|| stem[..stem.len() - 1].to_owned());
    let bases = [Some(stem.to_owned()), Some(format!("{stem}e")), single];
    bases.into_iter().flatten().find(|base| of(base).is_some_and(|verb| verb.base))
}

/// A form that can be the verb of a sentence without another before it.
pub(super) fn is_finite(word: &str) -> bool {
    matches!(
        word,
        "is" | "are"
            | "was"
            | "were"
            | "am"
            | "'m"
            | "'re"
            | "has"
            | "have"
            | "had"
            | "'ve"
            | "will"
            | "'ll"
            | "shall"
            | "would"
            | "could"
            | "should"
            | "can"
            | "may"
            | "might"
            | "must"
            | "does"
            | "do"
            | "did"
            | "ca"
            | "wo"
            | "cannot"
            | "cant"
            | "dont"
            | "wont"
            | "doesnt"
            | "didnt"
            | "isnt"
    ) || of(word).is_some_and(|verb| verb.past || verb.third)
        || (word.len() > 4 && word.ends_with("ed"))
}

/// Whether a verb in its base form is of what people will do and systems will not.
pub(super) fn is_human(word: &str) -> bool {
    lists::HUMAN_VERBS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_derived_from_their_base() {
        let past = |word| of(word).map(|verb| (verb.class, verb.past, verb.participle));
        assert_eq!(past("submitted"), Some((Class::Deed, true, true)));
        assert_eq!(past("carried"), Some((Class::Deed, true, true)));
        assert_eq!(past("wrote"), Some((Class::Deed, true, false)));
        assert_eq!(past("broken"), Some((Class::Harm, false, true)));
        assert_eq!(past("knew"), Some((Class::Idle, true, false)));
        assert!(of("finishes").is_some_and(|verb| verb.third && !verb.past));
        assert!(of("planning").is_some_and(|verb| verb.ing));
        assert!(of("budget").is_none());
        let bases = ["checking", "making", "planning", "calling", "evening"].map(base_of);
        assert_eq!(
            bases.each_ref().map(Option::as_deref),
            [Some("check"), Some("make"), Some("plan"), Some("call"), None]
        );
    }
}
