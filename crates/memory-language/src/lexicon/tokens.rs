//! Cutting a text into what is indexed: words and the parts of compounds, identifiers as typed, CJK characters and bigrams.

use unicode_segmentation::UnicodeSegmentation;

/// The longest lexeme, in characters; longer runs are cut, the same way in text and question.
pub(super) const LEXEME_MAX_CHARS: usize = 64;

pub(super) enum Token {
    Word(String),
    /// An identifier, path, version or other word with punctuation inside, as typed but in lower case.
    Compound(String),
    Bigram(String),
    Ideograph(String),
}

pub(super) fn for_each_token(text: &str, each: &mut impl FnMut(Token)) {
    for run in text.split_whitespace() {
        let bare =
            run.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '#' | '@' | '$'));
        let bare = bare.trim_end_matches(['/', '_', '@', '#', '$']);
        if is_compound(bare) {
            each(Token::Compound(lexeme(bare)));
            // A file is also found without its folder.
            for part in bare.split(['/', '\\']).filter(|part| *part != bare && is_compound(part)) {
                each(Token::Compound(lexeme(part)));
            }
        }
        words_of(run, each);
    }
}

fn is_compound(run: &str) -> bool {
    run.chars().any(|c| !c.is_alphanumeric() && c != '\'' && c != '’')
        && run.chars().filter(|c| c.is_alphanumeric()).count() > 1
}

fn words_of(run: &str, each: &mut impl FnMut(Token)) {
    let mut previous: Option<char> = None;
    for word in run.unicode_words() {
        let Some(first) = word.chars().next() else { continue };
        if is_cjk(first) {
            for c in word.chars() {
                each(Token::Ideograph(c.to_string()));
                if let Some(before) = previous {
                    each(Token::Bigram([before, c].iter().collect()));
                }
                previous = Some(c);
            }
            continue;
        }
        previous = None;
        for part in word.split(['.', '_', ':']).filter(|part| !part.is_empty()) {
            let part = part.trim_end_matches("'s").trim_end_matches("’s");
            each(Token::Word(lexeme(part)));
            camel_parts(part, each);
        }
    }
}

/// `getUserName` is also found by "user name".
fn camel_parts(word: &str, each: &mut impl FnMut(Token)) {
    let has_hump = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    if !has_hump {
        return;
    }
    let mut part = String::new();
    for c in word.chars() {
        if c.is_uppercase() && part.chars().last().is_some_and(char::is_lowercase) {
            each(Token::Word(lexeme(&std::mem::take(&mut part))));
        }
        part.push(c);
    }
    each(Token::Word(lexeme(&part)));
}

pub(super) fn lexeme(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).take(LEXEME_MAX_CHARS).collect()
}

fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x2FA1F)
}
