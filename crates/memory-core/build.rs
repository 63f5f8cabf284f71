//! Writes the vocabulary of cl100k_base, which tiktoken-rs carries, and the classes of characters in the form of
//! `src/chunk/cl100k/table.rs`.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

use regex::Regex;
use tiktoken_rs::cl100k_base;

#[path = "src/chunk/cl100k/table.rs"]
mod table;

use table::{CHECK_BITS, CLASS_BITS, Class, HEAD_BYTES, SLOT_BITS, TOKEN_MAX_BYTES, slot_and_check};

/// The ordinary tokens are numbered from 0 without gaps.
const ORDINARY_TOKENS: u32 = 100_256;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/chunk/cl100k/table.rs");
    let folder = env::var("OUT_DIR")?;
    let write = |name, bytes: Vec<u8>| fs::write(Path::new(&folder).join(name), bytes);
    let (tokens, slots) = vocabulary()?;
    write("cl100k.tokens", tokens)?;
    write("cl100k.slots", little_endian(&slots))?;
    write("cl100k.classes", little_endian(&classes()?))?;
    Ok(())
}

fn little_endian(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The tokens by rank, and where each is.
fn vocabulary() -> Result<(Vec<u8>, Vec<u32>), Box<dyn Error>> {
    let encoder = cl100k_base()?;
    let mut tokens = vec![0];
    let mut slots = vec![0; 1 << SLOT_BITS];
    for rank in 0..ORDINARY_TOKENS {
        let token = encoder.decode_bytes(&[rank]).map_err(|error| format!("{error}"))?;
        assert!((1..=TOKEN_MAX_BYTES).contains(&token.len()), "token {rank} has {} bytes", token.len());
        let at = u32::try_from(tokens.len())?;
        assert!(at < 1 << (u32::BITS - CHECK_BITS), "too many bytes of tokens");
        let head = rank * TOKEN_MAX_BYTES as u32 + token.len() as u32 - 1;
        tokens.extend(&head.to_le_bytes()[..HEAD_BYTES]);
        tokens.extend(&token);

        let (mut slot, check) = slot_and_check(&token);
        while slots[slot] != 0 {
            slot = (slot + 1) % slots.len();
        }
        slots[slot] = at << CHECK_BITS | check;
    }
    Ok((tokens, slots))
}

/// Runs of characters of one class, as the pattern's own engine knows them.
fn classes() -> Result<Vec<u32>, Box<dyn Error>> {
    let kinds = [(r"^\p{L}", Class::Letter), (r"^\p{N}", Class::Number), (r"^\s", Class::Space)];
    let mut patterns = Vec::new();
    for (pattern, class) in kinds {
        patterns.push((Regex::new(pattern)?, class));
    }
    let mut runs = Vec::new();
    let mut last = None;
    for character in '\0'..=char::MAX {
        let text = character.to_string();
        let found = patterns.iter().find(|(pattern, _)| pattern.is_match(&text));
        let class = found.map_or(Class::Other, |(_, class)| *class);
        if last != Some(class) {
            runs.push(u32::from(character) << CLASS_BITS | class as u32);
            last = Some(class);
        }
    }
    Ok(runs)
}
