//! Which graphs of a namespace an answer may draw on, and what they are called there.

use super::{FILE_PREFIX, GraphFile, GraphScope};

/// The graphs that a client may see. The files of others are never among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphReach {
    One(GraphScope),
    /// All threads, and the graph of one's own file.
    Threads {
        own_file: Option<GraphFile>,
    },
}

impl Default for GraphReach {
    fn default() -> Self {
        Self::Threads { own_file: None }
    }
}

impl GraphReach {
    /// The name of the only graph that is meant.
    pub fn only(&self) -> Option<String> {
        match self {
            Self::One(scope) => Some(scope.thread_name()),
            Self::Threads { .. } => None,
        }
    }

    pub fn file(&self) -> Option<&GraphFile> {
        match self {
            Self::One(GraphScope::File(file)) => Some(file),
            Self::One(GraphScope::Thread(_)) => None,
            Self::Threads { own_file } => own_file.as_ref(),
        }
    }

    /// What the graph of the file is called in the store.
    pub fn file_thread(&self) -> Option<String> {
        self.file().map(|file| GraphScope::File(file.clone()).thread_name())
    }

    /// What is left when the file is gone; `None` where it was all.
    #[must_use]
    pub fn without_file(self) -> Option<Self> {
        match self {
            Self::One(GraphScope::File(_)) => None,
            Self::One(_) => Some(self),
            Self::Threads { .. } => Some(Self::default()),
        }
    }
}

/// What a graph is called in an answer: a file by its name alone, wherever it is.
pub fn shown_thread(thread_name: &str) -> String {
    match thread_name.strip_prefix(FILE_PREFIX) {
        Some(path) => format!("{FILE_PREFIX}{}", path.rsplit('/').next().unwrap_or(path)),
        None => thread_name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_by_its_name_and_is_all_that_goes_with_it() {
        let file = GraphFile::new("/projects/secret/memory.jsonl").unwrap();
        let scope = GraphScope::File(file.clone());
        assert_eq!(shown_thread(&scope.thread_name()), "file:memory.jsonl");
        assert_eq!(shown_thread("team a/b"), "team a/b");
        assert_eq!(GraphReach::One(scope).without_file(), None);
        let both = GraphReach::Threads { own_file: Some(file) };
        assert_eq!((both.only(), both.clone().without_file()), (None, Some(GraphReach::default())));
        let one = GraphReach::One(GraphScope::default());
        assert_eq!((one.only().as_deref(), one.file()), (Some("default"), None));
    }
}
