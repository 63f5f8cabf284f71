use proptest::prelude::*;
use tiktoken_rs::cl100k_base_singleton;

use super::*;

fn plain_count(text: &str) -> usize {
    cl100k_base_singleton().encode_ordinary(text).len()
}

fn ordinary_texts() -> Vec<String> {
    let code = include_str!("mod.rs");
    let sentence = |i| format!("Anna O'Neil's {i}th note isn't in; she'd paid {}.50 (twice)!", i * 37);
    let prose = (0..300).map(|i| sentence(i) + if i % 7 == 6 { "\n\n" } else { " " }).collect();
    let mixed = "Ünïcode naïveté — “quoted” 12345678 чтобы понять. नमस्ते दुनिया। สวัสดี\r\n\tx += 1;  // 🦀👩‍👩‍👧\n";
    let asian = "記憶とは過去の経験の保持である。「そうですか？」と彼は言った。然后他离开了，2024年。";
    let tabs = code.replace("    ", "\t").replace('\n', "\r\n");
    vec![prose, code.to_owned(), tabs, mixed.repeat(60), asian.repeat(60)]
}

fn unbroken_runs(bytes: usize) -> impl Iterator<Item = String> {
    let emoji = ["👨\u{200d}👩\u{200d}👧", "👨\u{200d}", "🇫🇷"];
    let units = ["a", "7", "\n", " ", "\r\n", " \n", "\u{301}", "漢", "क\u{94d}", "-=", "Zm9vYmFyCg"];
    units.into_iter().chain(emoji).map(move |unit| unit.repeat(bytes / unit.len()))
}

/// Cuts the text and checks everything that holds for any text.
fn checked(text: &str) -> Chunked {
    let cut = chunk_text(text);
    let chars: Vec<(usize, char)> = text.char_indices().chain([(text.len(), '\0')]).collect();
    let tokens = Tokens::of(text);
    let token_at = |char: usize| tokens.until(chars[char].0);

    assert_eq!(cut.chunks.is_empty(), cut.token_count < CHUNK_MAX_TOKENS);
    let mut rebuilt = String::new();
    let mut last = CharSpan::new(0, 0);
    for (at, Chunk { span, token_count }) in cut.chunks.iter().enumerate() {
        let shared = token_at(last.end) - token_at(span.start);
        assert!(at == 0 || (50..=150).contains(&shared), "{shared} tokens shared");
        assert!(at == 0 || last.start < span.start && last.end < span.end, "{last:?} {span:?}");
        assert_eq!(*token_count, token_at(span.end) - token_at(span.start));
        assert!(*token_count <= CHUNK_MAX_TOKENS);
        rebuilt.extend(chars[last.end..span.end].iter().map(|(_, char)| char));
        last = *span;
    }
    assert!(cut.chunks.is_empty() || rebuilt == text);

    let mut covered = 0;
    let blank = |start: usize, end: usize| text[chars[start].0..chars[end].0].trim().is_empty();
    for Passage { chunk_index, span, text: passage } in &cut.passages {
        assert!(blank(covered, span.start) && !blank(span.start, span.end));
        assert_eq!(&text[chars[span.start].0..chars[span.end].0], &**passage);
        assert!(token_at(span.end) - token_at(span.start) <= PASSAGE_MAX_TOKENS);
        let first = cut.chunks.iter().position(|c| c.span.start <= span.start && span.end <= c.span.end);
        assert!(*chunk_index == first && first.is_some() != cut.chunks.is_empty());
        covered = span.end;
    }
    assert!(blank(covered, chars.len() - 1));
    cut
}

#[test]
fn ordinary_text_is_counted_as_cl100k_base_counts_it() {
    for text in ordinary_texts() {
        assert!(pieces(&text).count() > 1);
        assert_eq!(count_tokens(&text), plain_count(&text));
        assert_eq!(chunk_text(&text).token_count, plain_count(&text));
    }
    assert_eq!(count_tokens(""), 0);
    assert!(count_tokens("<|endoftext|>") > 1, "a special token is plain text");
}

#[test]
fn a_counter_that_remembers_words_counts_as_the_tokeniser_does() {
    let mut counter = TokenCounter::default();
    let json = |text: &String| {
        format!(r#"{{"id":"art_4f0be12a99","text":{text:?},"score":0.3184,"at":"2024-03-15T09:30:00Z"}}"#)
    };
    let texts = ordinary_texts();
    for text in texts.iter().chain(&texts.iter().map(json).collect::<Vec<_>>()) {
        assert_eq!(counter.count(text), plain_count(text), "{text:?}");
        assert_eq!(counter.count(text), plain_count(text), "the second time: {text:?}");
    }
}

#[test]
fn a_cut_the_pattern_always_makes_changes_no_count() {
    let units: Vec<&str> = "ab|7|12345|'s|'|.|!|)|\n|\r\n| |  |\t|漢|、|é|\u{301}|🦀".split('|').collect();
    let pairs: Vec<String> =
        units.iter().flat_map(|a| units.iter().map(move |b| a.to_string() + b)).collect();
    for text in pairs.iter().flat_map(|pair| units.iter().map(move |unit| pair.clone() + unit + pair)) {
        for (at, right) in text.char_indices().skip(1) {
            let left = text[..at].chars().next_back().unwrap();
            let apart = || plain_count(&text[..at]) + plain_count(&text[at..]);
            assert!(!always_splits(left, right) || apart() == plain_count(&text), "{text:?} at {at}");
        }
    }
}

#[test]
fn chunks_and_passages_of_ordinary_text_keep_their_limits_counted_alone() {
    for text in ordinary_texts() {
        let cut = checked(&text);
        assert!(cut.chunks.len() > 2);
        let count = |start, end| plain_count(CharSpan::new(start, end).of(&text).unwrap());
        assert!(cut.chunks.iter().all(|c| count(c.span.start, c.span.end) <= CHUNK_MAX_TOKENS));
        for pair in cut.chunks.windows(2) {
            let shared = count(pair[1].span.start, pair[0].span.end);
            assert!((50..=150).contains(&shared), "{shared} tokens shared");
        }
        let counts = || cut.passages.iter().map(|passage| plain_count(&passage.text));
        assert!(counts().all(|count| (40..=PASSAGE_MAX_TOKENS).contains(&count)), "no scraps");
        assert_eq!(cut, chunk_text(&text));
    }
}

#[test]
fn text_is_chunked_from_900_tokens_on() {
    let text = |tokens: usize| "a".to_owned() + &" a".repeat(tokens - 1);
    assert!(checked(&text(899)).chunks.is_empty());
    assert_eq!(checked(&text(900)).chunks, [Chunk { span: CharSpan::new(0, 1799), token_count: 900 }]);
    assert_eq!(checked(&text(901)).chunks.len(), 2);
    assert_eq!(checked("").passages, []);
    assert_eq!(checked(" \n\u{3000}").passages, []);
    let short = Passage { chunk_index: None, span: CharSpan::new(1, 5), text: "né 漢".into() };
    assert_eq!(checked(" né 漢\n").passages, [short]);
}

#[test]
fn passages_are_balanced_and_end_with_sentences() {
    let passages = checked(&" a".repeat(170)).passages;
    assert_eq!(passages.iter().map(|p| plain_count(&p.text)).collect::<Vec<_>>(), [85, 85]);
    assert_eq!(checked(&" a".repeat(150)).passages.len(), 1);
    let text = &ordinary_texts()[0];
    let cut = checked(text);
    assert!(cut.passages.iter().all(|p| p.text.starts_with("Anna") && p.text.ends_with('!')));
    assert!(cut.chunks.iter().all(|c| c.span.of(text).is_some_and(|text| text.starts_with("Anna"))));
}

#[test]
fn unbroken_runs_reach_the_tokeniser_in_bounded_pieces() {
    for text in unbroken_runs(60_000) {
        let lengths: Vec<usize> = pieces(&text).map(str::len).collect();
        assert!(lengths.iter().all(|length| *length <= PIECE_BYTES));
        assert_eq!(lengths.iter().sum::<usize>(), text.len());
        checked(&text);
        let head = &text[..text.floor_char_boundary(9000)];
        let (counted, exact) = (count_tokens(head), plain_count(head));
        assert!(counted.abs_diff(exact) <= 9000 / RUN_PIECE_BYTES * 4, "{counted} for {exact}");
    }
}

#[test]
fn clusters_and_line_ends_stay_whole() {
    for unit in ["e\u{301}\u{323}", "\r\n", "👨\u{200d}👩\u{200d}👧", "각"] {
        let length = unit.chars().count();
        let cut = checked(&unit.repeat(5000));
        assert!(cut.chunks.len() > 1);
        assert!(cut.chunks.iter().all(|c| c.span.start % length == 0 && c.span.end % length == 0));
        assert!(cut.passages.iter().all(|p| p.span.start % length == 0), "{unit:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_text_is_cut_completely(
        units in prop::collection::vec(
            prop_oneof!["[a-z]{1,9}[.,!?]? ", "[\\r\\n\\t ]{1,4}", "[a🦀漢\u{301}\u{200d}]{1,5}", any::<String>()],
            0..60,
        ),
        times in prop::collection::vec(1..60usize, 60),
    ) {
        checked(&units.iter().zip(times).map(|(unit, times)| unit.repeat(times)).collect::<String>());
    }
}
