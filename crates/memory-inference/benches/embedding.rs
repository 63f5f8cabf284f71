//! How long one text takes to become a vector, by its length and the cores that the model may use:
//! `cargo bench -p memory-inference -- MODEL_DIR ONNXRUNTIME_LIBRARY`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use memory_core::ports::EmbeddingModel;
use memory_inference::embedding::OnnxEmbedding;

const RUNS: usize = 150;
const WARM_UP: usize = 20;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (Some(model_dir), Some(library)) = (arguments.next(), arguments.next()) else {
        eprintln!("give the model's folder and the ONNX Runtime library, as `remembrancer setup` shows them");
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().expect("a runtime");
    println!("{:<8} {:>6} {:>8} {:>8}", "threads", "words", "p50 ms", "p95 ms");
    for threads in [1, 2] {
        let model = OnnxEmbedding::load(&PathBuf::from(&model_dir), &PathBuf::from(&library), threads)
            .expect("the model loads");
        for words in [6, 30, 120] {
            let text = ["memory", "of", "the", "project", "Apollo", "review"].repeat(words / 6).join(" ");
            let mut times = runtime.block_on(async {
                let mut times = Vec::with_capacity(RUNS);
                for _ in 0..RUNS + WARM_UP {
                    let started = Instant::now();
                    model.embed_query(&text).await.expect("a vector");
                    times.push(started.elapsed());
                    // As between two requests: the threads fall asleep.
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                times.split_off(WARM_UP)
            });
            times.sort();
            let at = |share: usize| times[RUNS * share / 100].as_secs_f64() * 1e3;
            println!("{threads:<8} {words:>6} {:>8.2} {:>8.2}", at(50), at(95));
        }
    }
}
