//! Which stemmers fit a text or a question.

use rust_stemmers::Algorithm;
use whatlang::{Lang, Script};

/// How much of a text is read to detect its language, in characters.
const LANGUAGE_SAMPLE_CHARS: usize = 2_000;

/// The languages a question may be in: the detected one, else those of its script. English is
/// always one, since text whose language could not be detected was stemmed as English.
pub(super) fn languages_of_query(query: &str) -> Vec<Algorithm> {
    let mut languages = vec![Algorithm::English];
    match (language_of(query), whatlang::detect_script(query)) {
        (Some(detected), _) => languages.push(detected),
        (None, Some(Script::Cyrillic)) => languages.push(Algorithm::Russian),
        (None, Some(Script::Greek)) => languages.push(Algorithm::Greek),
        (None, Some(Script::Arabic)) => languages.push(Algorithm::Arabic),
        (None, Some(Script::Latin)) => languages.extend([
            Algorithm::German,
            Algorithm::French,
            Algorithm::Spanish,
            Algorithm::Italian,
            Algorithm::Portuguese,
            Algorithm::Dutch,
        ]),
        (None, _) => {}
    }
    languages
}

/// The stemming algorithm of the text's language; `None` where it cannot be detected.
pub(super) fn language_of(text: &str) -> Option<Algorithm> {
    let end = text.char_indices().nth(LANGUAGE_SAMPLE_CHARS).map_or(text.len(), |(at, _)| at);
    if end < 40 && whatlang::detect_script(&text[..end]) == Some(Script::Latin) {
        return None;
    }
    let info = whatlang::detect(&text[..end])?;
    if !info.is_reliable() {
        return None;
    }
    Some(match info.lang() {
        Lang::Eng => Algorithm::English,
        Lang::Deu => Algorithm::German,
        Lang::Fra => Algorithm::French,
        Lang::Spa => Algorithm::Spanish,
        Lang::Por => Algorithm::Portuguese,
        Lang::Ita => Algorithm::Italian,
        Lang::Nld => Algorithm::Dutch,
        Lang::Rus => Algorithm::Russian,
        Lang::Swe => Algorithm::Swedish,
        Lang::Dan => Algorithm::Danish,
        Lang::Nob => Algorithm::Norwegian,
        Lang::Fin => Algorithm::Finnish,
        Lang::Hun => Algorithm::Hungarian,
        Lang::Ron => Algorithm::Romanian,
        Lang::Tur => Algorithm::Turkish,
        Lang::Ell => Algorithm::Greek,
        Lang::Ara => Algorithm::Arabic,
        Lang::Tam => Algorithm::Tamil,
        _ => return None,
    })
}
