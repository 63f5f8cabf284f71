//! Regular expressions that are compiled once.

use std::sync::OnceLock;

use regex::Regex;

use super::data_file::{DataFault, loaded};

pub(super) struct Pattern {
    name: &'static str,
    source: fn() -> String,
    regex: OnceLock<Regex>,
}

impl Pattern {
    pub(super) const fn new(name: &'static str, source: fn() -> String) -> Self {
        Self { name, source, regex: OnceLock::new() }
    }

    pub(super) fn get(&self) -> &Regex {
        self.regex.get_or_init(|| loaded(self.compile()))
    }

    pub(super) fn compile(&self) -> Result<Regex, DataFault> {
        Regex::new(&(self.source)()).map_err(|error| DataFault::Pattern { name: self.name, error })
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_broken_pattern_says_which_one_it_is() {
        let fault = Pattern::new("heading", || "(".to_owned()).compile().unwrap_err().to_string();
        assert!(fault.contains("'heading'"), "{fault}");
    }
}
