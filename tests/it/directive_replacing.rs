//! Which directives no longer hold after what is said later: of pairs by a writer of their own, in which the later mostly shares no word
//! with the earlier, and is as often about the same without ending it. Each earlier one stands among a dozen.

use std::collections::BTreeSet;
use std::sync::Arc;

use memory_core::artifact::{Draft, NewArtifact};
use memory_core::directive::{
    FoundDirective, Gist, HeldAgainst, Judged, ToHold, find_judged_directives, sentences_to_judge,
    to_hold_against,
};
use memory_core::ports::{EmbeddingModel, TextEncoder};
use memory_inference::text_encoder::OnnxTextEncoder;
use memory_tests::{model, model_dir, onnxruntime_library};
use serde::Deserialize;

/// How much the likeness of both counts, and from which sum on, was chosen on the first.
const PAIRS: [(&str, &str); 2] = [
    ("tuned on", include_str!("../gold/directives/replacing/tuning.jsonl")),
    ("held aside", include_str!("../gold/directives/replacing/held-aside.jsonl")),
];
/// Long turns, most of them about something else, each with the wishes that one person had told before.
const LONG_TURNS: [(&str, &str); 2] = [
    ("long turns, tuned on", include_str!("../gold/directives/replacing/long-turns-tuning.jsonl")),
    ("long turns, held aside", include_str!("../gold/directives/replacing/long-turns-held-aside.jsonl")),
];
/// Of a hundred earlier directives that no longer hold, so many are taken out at least.
const FOUND_MIN: usize = 25;
/// Of a hundred that are taken out, so many no longer hold at least.
const RIGHT_MIN: usize = 80;
/// The same of long turns.
const LONG_FOUND_MIN: usize = 20;
const LONG_RIGHT_MIN: usize = 70;
/// So many directives are there.
const AMONG: usize = 12;
/// So many of them, the most like it, a statement is held against.
const NEAREST: usize = 8;

#[derive(Deserialize)]
struct Pair {
    earlier: String,
    later: String,
    label: String,
}

#[derive(Deserialize)]
struct LongTurn {
    wishes: Vec<String>,
    turn: String,
    ends: Vec<End>,
}

#[derive(Deserialize)]
struct End {
    /// Its place among the wishes.
    wish: usize,
}

/// What was taken out, and how much of that no longer holds.
#[derive(Debug, Default)]
struct Counts {
    over: usize,
    taken_out: usize,
    right: usize,
}

impl Counts {
    /// The places of what was taken out; the first is the one that the label is of.
    fn add(&mut self, is_over: bool, taken_out: &[usize]) {
        self.over += usize::from(is_over);
        self.taken_out += taken_out.len();
        self.right += usize::from(is_over && taken_out.contains(&0));
    }
}

async fn vectors(model: &dyn EmbeddingModel, texts: Vec<String>) -> Vec<Vec<f32>> {
    let embedded = model.embed_passages(texts).await.expect("they are embedded");
    embedded.into_iter().map(|embedded| embedded.vector).collect()
}

async fn judged(encoder: &dyn TextEncoder, later: &str) -> Judged {
    let draft = Draft {
        content: later.to_owned(),
        context: Some("chat".into()),
        role: Some("user".into()),
        ..Draft::default()
    };
    let new = NewArtifact::new(draft).expect("it can be stored");
    let sentences = sentences_to_judge(&new.content, &new.meta).into_iter().map(|sentence| sentence.bytes);
    let logits = encoder.directive_logits(new.content.as_str().into(), sentences.collect()).await;
    find_judged_directives(&new.content, &new.meta, &logits.expect("it is read"))
}

fn gist(found: &FoundDirective) -> Gist {
    Gist::new(&found.quote, found.condition.as_deref(), found.is_permission)
}

/// Which of the directives a text takes out, as words tell.
fn by_words(later: &Judged, directives: &[&str]) -> Vec<usize> {
    let ends =
        |earlier: &str| later.directives.iter().any(|it| gist(it).replaces(&Gist::new(earlier, None, false)));
    (0..directives.len()).filter(|n| ends(directives[*n])).collect()
}

/// Which of them it takes out besides, as the encoder judges.
async fn by_encoder(
    encoder: &dyn TextEncoder,
    model: &dyn EmbeddingModel,
    (text, later): (&str, &Judged),
    (directives, vectors_of): (&[&str], &[&Vec<f32>]),
) -> Vec<usize> {
    let held = to_hold_against(text, later);
    let of_held = vectors(model, held.iter().map(|held| held.text.clone()).collect()).await;
    let mut out = Vec::new();
    for (held, vector) in held.iter().zip(&of_held) {
        out.extend(taken_out(encoder, directives, vectors_of, (held, vector)).await);
    }
    out
}

/// Which of the directives a stretch of a text takes out as the encoder judges.
async fn taken_out(
    encoder: &dyn TextEncoder,
    directives: &[&str],
    vectors: &[&Vec<f32>],
    (later, vector): (&ToHold, &[f32]),
) -> Option<usize> {
    let cosine = |at: &usize| vectors[*at].iter().zip(vector).map(|(a, b)| a * b).sum::<f32>();
    let mut near: Vec<usize> = (0..directives.len()).collect();
    near.sort_by(|a, b| cosine(b).total_cmp(&cosine(a)));
    near.truncate(NEAREST);
    near.retain(|at| !later.leaves(directives[*at], None));
    let pairs = near.iter().map(|at| [directives[*at], &later.text].map(Arc::from)).collect();
    let logits = encoder.replacement_logits(pairs).await.expect("they are read");
    let against = near.iter().zip(logits);
    let against: Vec<HeldAgainst> =
        against.map(|(at, log_odds)| HeldAgainst { log_odds, similarity: cosine(at) }).collect();
    later.ends(&against).map(|at| near[at])
}

#[tokio::test]
async fn what_is_said_later_in_other_words_ends_directives() {
    let encoder = OnnxTextEncoder::in_folder(&model_dir(), &onnxruntime_library()).expect("it is there");
    let model = model();
    for (name, pairs) in PAIRS {
        let pairs: Vec<Pair> =
            pairs.lines().map(|line| serde_json::from_str(line).expect("a labelled pair")).collect();
        let of_earlier = vectors(&*model, pairs.iter().map(|pair| pair.earlier.clone()).collect()).await;
        let (mut by_rules, mut with_encoder) = (Counts::default(), Counts::default());
        for (at, pair) in pairs.iter().enumerate() {
            // The others are those of pairs far enough away to have been written about something else.
            let among: Vec<usize> = (0..AMONG).map(|n| (at + n * 7) % pairs.len()).collect();
            let directives: Vec<&str> = among.iter().map(|n| pairs[*n].earlier.as_str()).collect();
            let among: Vec<&Vec<f32>> = among.iter().map(|n| &of_earlier[*n]).collect();
            let later = judged(&*encoder, &pair.later).await;
            let mut out = by_words(&later, &directives);
            let is_over = pair.label == "replaced";
            by_rules.add(is_over, &out);
            let of_text = (pair.later.as_str(), &later);
            out.extend(by_encoder(&*encoder, &*model, of_text, (&directives, &among)).await);
            out.sort_unstable();
            out.dedup();
            with_encoder.add(is_over, &out);
        }
        println!("{name}: by words {by_rules:?}, with the encoder {with_encoder:?}");
        let Counts { over, taken_out, right } = with_encoder;
        assert!(right * 100 >= over * FOUND_MIN && right * 100 >= taken_out * RIGHT_MIN, "{name}: {right}");
    }
}

#[tokio::test]
async fn a_sentence_of_a_long_turn_ends_a_directive() {
    let encoder = OnnxTextEncoder::in_folder(&model_dir(), &onnxruntime_library()).expect("it is there");
    let model = model();
    for (name, cases) in LONG_TURNS {
        let cases: Vec<LongTurn> =
            cases.lines().map(|line| serde_json::from_str(line).expect("a labelled turn")).collect();
        let all: Vec<&str> = cases.iter().flat_map(|case| &case.wishes).map(String::as_str).collect();
        let of_all = vectors(&*model, all.iter().map(|wish| (*wish).to_owned()).collect()).await;
        let (mut over, mut taken, mut right) = (0, 0, 0);
        let mut first = 0;
        for case in &cases {
            // Wishes of others make up the dozen.
            let among: Vec<usize> = (0..AMONG).map(|n| (first + n) % all.len()).collect();
            first += case.wishes.len();
            let directives: Vec<&str> = among.iter().map(|n| all[*n]).collect();
            let of_directives: Vec<&Vec<f32>> = among.iter().map(|n| &of_all[*n]).collect();
            let later = judged(&*encoder, &case.turn).await;
            let mut out = by_words(&later, &directives);
            let of_text = (case.turn.as_str(), &later);
            out.extend(by_encoder(&*encoder, &*model, of_text, (&directives, &of_directives)).await);
            let ends: BTreeSet<usize> = case.ends.iter().map(|end| end.wish).collect();
            let out: BTreeSet<usize> = out.into_iter().collect();
            (over, taken, right) =
                (over + ends.len(), taken + out.len(), right + ends.intersection(&out).count());
        }
        println!("{name}: of {over} that no longer hold {right} were taken out, of {taken} in all");
        assert!(
            right * 100 >= over * LONG_FOUND_MIN && right * 100 >= taken * LONG_RIGHT_MIN,
            "{name}: {right} of {over}, {taken} taken out"
        );
    }
}
