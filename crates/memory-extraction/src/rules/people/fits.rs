//! Short forms of names and whom they fit; names as they are compared.

use std::collections::HashMap;

use super::super::names;
use super::super::words::Text;
use super::Known;

/// The words of some tokens in lower case and without accents.
pub(super) fn phrase(text: &Text<'_>, at: usize, length: usize) -> String {
    let words: Vec<String> = (at..at + length).map(|at| folded(text.raw_word(at))).collect();
    words.join(" ")
}

/// In lower case and without the accents that people leave out: "João" as "joao".
pub(in super::super) fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    word.to_lowercase()
        .chars()
        .map(|c| match c {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' | 'ă' | 'ą' => 'a',
            'ç' | 'ć' | 'č' => 'c',
            'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ė' | 'ę' | 'ě' => 'e',
            'ğ' => 'g',
            'ì' | 'í' | 'î' | 'ï' | 'ī' | 'ı' => 'i',
            'ł' => 'l',
            'ñ' | 'ń' | 'ň' => 'n',
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ő' | 'ō' => 'o',
            'ř' => 'r',
            'ś' | 'š' | 'ş' | 'ș' => 's',
            'ť' | 'ț' | 'ţ' => 't',
            'ù' | 'ú' | 'û' | 'ü' | 'ū' | 'ű' | 'ů' => 'u',
            'ý' | 'ÿ' => 'y',
            'ź' | 'ż' | 'ž' => 'z',
            '’' => '\'',
            other => other,
        })
        .collect()
}

/// An address or handle without the marks people put between its parts.
fn plain_handle(handle: &str) -> String {
    folded(handle.trim_end_matches(|c: char| c.is_ascii_digit()))
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect()
}

pub(super) fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Short forms of full names and whom each fits; `None` where it fits several.
pub(super) struct Fits(HashMap<String, Option<usize>>, HashMap<String, Option<usize>>);

impl Fits {
    pub(super) fn of(people: &[Known]) -> Self {
        let mut fits = Self(HashMap::new(), HashMap::new());
        for (entity, known) in people.iter().enumerate() {
            let words: Vec<String> = known.name.split_whitespace().map(folded).collect();
            let (Some(first), Some(last)) = (words.first(), words.last()) else { continue };
            put(&mut fits.0, first, entity);
            put(&mut fits.1, &plain_handle(first), entity);
            if words.len() > 1 {
                if last.chars().count() >= 3 && !names::is_no_name(last) {
                    put(&mut fits.0, last, entity);
                }
                let initial: String = first.chars().take(1).collect();
                let last_initial: String = last.chars().take(1).collect();
                let middle = words.get(1).filter(|_| words.len() > 2).cloned().unwrap_or_default();
                for form in [
                    format!("{first}{last}"),
                    format!("{first}{middle}"),
                    format!("{initial}{last}"),
                    format!("{first}{last_initial}"),
                    format!("{last}{first}"),
                    format!("{last}{initial}"),
                    last.clone(),
                ] {
                    put(&mut fits.1, &plain_handle(&form), entity);
                }
            }
        }
        fits
    }

    pub(super) fn one(&self, word: &str) -> Option<usize> {
        self.0.get(&folded(word)).copied().flatten()
    }

    pub(super) fn address(&self, local: &str) -> Option<usize> {
        self.1.get(&plain_handle(local)).copied().flatten()
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = (String, usize)> {
        let mut parts: Vec<(String, usize)> =
            self.0.iter().filter_map(|(word, entity)| Some((word.clone(), (*entity)?))).collect();
        parts.sort();
        parts.into_iter()
    }
}

fn put(map: &mut HashMap<String, Option<usize>>, key: &str, entity: usize) {
    map.entry(key.to_owned())
        .and_modify(|known| {
            if *known != Some(entity) {
                *known = None;
            }
        })
        .or_insert(Some(entity));
}
