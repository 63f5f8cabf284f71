//! How well the rules extract, without building the server:
//! `cargo run -q -p memory-bench --example extraction -- FOLDER [--errors] [NAME…]`
//!
//! With names (or beginnings of names) only those documents are read. Documents that are not sound are told and left out.

use std::path::Path;

use anyhow::{Context, ensure};
use memory_bench::extraction::{self, Figures, Gold, Mistakes};
use memory_inference::extractor::RulesExtractor;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let (flags, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    ensure!(flags.iter().all(|flag| flag == "--errors"), "the only flag is --errors, given: {flags:?}");
    let (folder, names) = words.split_first().context("name a folder of labelled documents")?;
    let mut gold = Gold::read(Path::new(folder))?;
    for problem in &gold.problems {
        eprintln!("{problem}");
    }
    if !names.is_empty() {
        gold.documents.retain(|document| names.iter().any(|name| document.name.starts_with(name)));
    }
    let judged = extraction::run(&RulesExtractor::new(), &gold.documents).await?;
    if !flags.is_empty() {
        for one in &judged {
            print!("{}", Mistakes::of(one).text());
        }
    }
    print!("{}", Figures::of(&judged).table());
    Ok(())
}
