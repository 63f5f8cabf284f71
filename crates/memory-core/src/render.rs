//! What is indexed: a passage together with what a reader would know about it. What is shown is the
//! passage alone.

use jiff::Timestamp;
use memory_language::text::cut;

use crate::artifact::Metadata;

/// How much of the previous turn is put before a turn, in characters.
pub const PREVIOUS_TURN_MAX_CHARS: usize = 300;
/// How much of a title, in characters.
const TITLE_MAX_CHARS: usize = 120;
/// How much of a speaker's name, in characters.
const SPEAKER_MAX_CHARS: usize = 60;

/// The turn before, as it is in the rendering of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviousTurn {
    pub speaker: Option<String>,
    pub text: String,
}

/// What surrounds the passages of one revision.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surroundings {
    pub title: Option<String>,
    pub speaker: Option<String>,
    pub date: Option<Timestamp>,
    /// Set for a conversation turn that follows another.
    pub previous: Option<PreviousTurn>,
}

impl Surroundings {
    pub fn new(meta: &Metadata, previous: Option<PreviousTurn>) -> Self {
        Self {
            title: meta.title.clone(),
            speaker: meta.speaker().map(str::to_owned),
            date: meta.date,
            previous,
        }
    }

    /// A passage as its words are indexed: with title and date, the turn before in front of the first passage, and the
    /// speaker.
    pub fn words_of(&self, passage: &str, is_first: bool) -> String {
        let mut words = self.titled(passage);
        if let Some(date) = self.date {
            words.push_str(&date.strftime("%-d %B %Y").to_string());
            words.push('\n');
        }
        if is_first && let Some(previous) = &self.previous {
            push_speaker(&mut words, previous.speaker.as_deref());
            words.push_str(&cut(&previous.text, PREVIOUS_TURN_MAX_CHARS));
            words.push('\n');
        }
        push_speaker(&mut words, self.speaker.as_deref());
        words.push_str(passage);
        words
    }

    /// A passage as the model sees it: with title and speaker. What another has said would blur what this one says.
    pub fn for_model(&self, passage: &str) -> String {
        let mut text = self.titled(passage);
        push_speaker(&mut text, self.speaker.as_deref());
        text.push_str(passage);
        text
    }

    /// The title, and room for the rest.
    fn titled(&self, passage: &str) -> String {
        let mut text = String::with_capacity(passage.len() + 96);
        if let Some(title) = &self.title {
            text.push_str(&cut(title, TITLE_MAX_CHARS));
            text.push('\n');
        }
        text
    }
}

fn push_speaker(out: &mut String, speaker: Option<&str>) {
    if let Some(speaker) = speaker {
        out.push_str(&cut(speaker, SPEAKER_MAX_CHARS));
        out.push_str(": ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_rendered_with_speaker_date_and_the_turn_before() {
        let around = Surroundings {
            title: None,
            speaker: Some("Ann".into()),
            date: Some("2023-05-07T10:00:00Z".parse().unwrap()),
            previous: Some(PreviousTurn { speaker: Some("Bob".into()), text: "Did it rain?".into() }),
        };
        assert_eq!(around.words_of("Yes.", true), "7 May 2023\nBob: Did it rain?\nAnn: Yes.");
        assert_eq!(around.words_of("And more.", false), "7 May 2023\nAnn: And more.");
        assert_eq!(Surroundings::default().words_of("Plain.", true), "Plain.");
        assert_eq!(around.for_model("Yes."), "Ann: Yes.");
        let titled = Surroundings { title: Some("Plans".into()), ..Surroundings::default() };
        assert_eq!(titled.for_model("Go."), "Plans\nGo.");
    }
}
