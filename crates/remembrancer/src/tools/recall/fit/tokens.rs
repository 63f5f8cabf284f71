//! What parts of an answer cost, in tokens of the JSON that is sent.

use std::sync::{LazyLock, Mutex, PoisonError};

use memory_core::chunk::TokenCounter;
use serde::Serialize;

/// Remembers the words of answers.
static COUNTER: LazyLock<Mutex<TokenCounter>> = LazyLock::new(Mutex::default);

/// As it is sent. These are always JSON.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value).map_or_else(|_| String::new(), |value| value.to_string())
}

pub(super) fn count(json: &str) -> usize {
    COUNTER.lock().unwrap_or_else(PoisonError::into_inner).count(json)
}

pub(super) fn tokens<T: Serialize>(value: &T) -> usize {
    count(&json(value))
}

/// What an item of a list costs.
pub(super) fn cost<T: Serialize>(item: &T) -> usize {
    tokens(item) + 1
}

pub(super) fn costs<T: Serialize>(items: &[T]) -> Vec<usize> {
    items.iter().map(cost).collect()
}

pub(super) fn all<T: Serialize>(items: &[T]) -> usize {
    items.iter().map(cost).sum()
}
