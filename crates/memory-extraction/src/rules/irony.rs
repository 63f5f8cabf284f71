//! Marks of what is not meant as it is said.

/// Whether a word or sign marks a joke.
pub(super) fn is_joke(word: &str) -> bool {
    matches!(
        word,
        "lol"
            | "haha"
            | "hahaha"
            | "hahah"
            | "lmao"
            | "rofl"
            | "hehe"
            | "🙄"
            | "😏"
            | "🤣"
            | "😂"
            | "jk"
            | "kidding"
            | "joking"
            | "joke"
            | "/s"
            | "😅"
            | "😜"
            | "🤪"
            | "🤡"
            | "🙃"
            | "yeahright"
    )
}
