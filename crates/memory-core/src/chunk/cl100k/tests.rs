use proptest::prelude::*;
use tiktoken_rs::cl100k_base_singleton;

use super::*;

fn counted(text: &str) -> Vec<usize> {
    let mut lengths = Vec::new();
    Tokeniser::default().token_lengths(text, |length| lengths.push(length));
    lengths
}

fn expected(text: &str) -> Vec<usize> {
    let encoder = cl100k_base_singleton();
    let length = |token| encoder.decode_bytes(&[token]).unwrap().len();
    encoder.encode_ordinary(text).into_iter().map(length).collect()
}

fn check(text: &str) {
    assert_eq!(counted(text), expected(text), "{text:?}");
}

#[test]
fn each_token_has_its_rank() {
    let encoder = cl100k_base_singleton();
    for token in 0..100_256 {
        assert_eq!(rank(&encoder.decode_bytes(&[token]).unwrap()), token);
    }
    for unknown in ["", "qzqz", "\u{10ffff}", &"a".repeat(129)] {
        assert_eq!(rank(unknown.as_bytes()), NONE, "{unknown:?}");
    }
}

#[test]
fn each_class_of_characters_is_cut_as_the_pattern_cuts_it() {
    let text = |c: char| format!("{c}{c}a1 {c}.{c}\n{c} '{c}");
    let mut last = Class::Other;
    for c in '\0'..=char::MAX {
        let is_new = std::mem::replace(&mut last, class(c)) != last;
        if is_new || u32::from(c) % 101 == 0 {
            check(&text(c));
        }
    }
}

#[test]
fn short_texts_of_all_kinds_of_characters_are_cut_as_the_pattern_cuts_them() {
    let units = [
        "a", "S", "ll", "'", "'rE", "ſ", "7", "½", ".", "|", " ", "  ", "\t", "\n", "\r\n", "\u{a0}", "é",
        "\u{301}", "漢", "🦀",
    ];
    let pairs: Vec<String> = units.iter().flat_map(|a| units.iter().map(move |b| [*a, b].concat())).collect();
    for first in &pairs {
        for second in &pairs {
            check(&[first.as_str(), second].concat());
        }
    }
}

#[test]
fn long_words_are_merged_as_tiktoken_merges_them() {
    for unit in ["a", "ab", "x\u{301}", "漢", "कि", "สวัสดี", "Donaudampfschiff", "\u{fffd}", "=-", "🦀"]
    {
        for length in [50, 99, 100, 101, 128, 129, 700] {
            check(&unit.repeat(length / unit.len() + 1));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_text_has_the_tokens_of_tiktoken(
        parts in prop::collection::vec(
            prop_oneof![
                "[a-zA-Z]{1,30}[.,!?']{0,2} ?",
                "[\\r\\n\\t \u{a0}\u{3000}]{1,6}",
                "[a-zäöüßéñçøłčşğ]{1,20}",
                "[а-яА-Я]{1,20} ",
                "[\u{900}-\u{97f}\u{e00}-\u{e7f}\u{600}-\u{6ff}]{1,15}",
                "[ぁ-ん一-龥가-힣]{1,12}",
                "[!-/:-@\\[-`{-~]{1,12}",
                "[0-9a-f]{1,64}",
                any::<String>(),
            ],
            0..40,
        ),
    ) {
        check(&parts.concat());
    }
}
