//! What is indexed: a passage together with what a reader would know about it. What is shown is the
//! passage alone.

use jiff::Timestamp;
use memory_language::text::cut;

use crate::artifact::Metadata;

/// How much of the previous turn stands before a turn, in characters.
pub const PREVIOUS_TURN_MAX_CHARS: usize = 300;
/// How much of a title, in characters.
const TITLE_MAX_CHARS: usize = 120;
/// How much of a speaker's name, in characters.
const SPEAKER_MAX_CHARS: usize = 60;

/// The turn before, as it stands in the rendering of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviousTurn {
    pub speaker: Option<String>,
    pub text: String,
}

/// A passage as the two indexes see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// For the words: title and date, the previous turn before the first passage, the speaker before the passage.
    pub words: String,
    /// For the model: title, speaker and passage. What another has said would blur what this one says.
    pub embedded: String,
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

    pub fn render(&self, passage: &str, is_first: bool) -> Rendered {
        let mut words = String::with_capacity(passage.len() + 96);
        if let Some(title) = &self.title {
            words.push_str(&cut(title, TITLE_MAX_CHARS));
            words.push('\n');
        }
        let mut embedded = words.clone();
        if let Some(date) = self.date {
            words.push_str(&date.strftime("%-d %B %Y").to_string());
            words.push('\n');
        }
        if is_first && let Some(previous) = &self.previous {
            push_speaker(&mut words, previous.speaker.as_deref());
            words.push_str(&cut(&previous.text, PREVIOUS_TURN_MAX_CHARS));
            words.push('\n');
        }
        for text in [&mut words, &mut embedded] {
            push_speaker(text, self.speaker.as_deref());
            text.push_str(passage);
        }
        Rendered { words, embedded }
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
        assert_eq!(around.render("Yes.", true).words, "7 May 2023\nBob: Did it rain?\nAnn: Yes.");
        assert_eq!(around.render("And more.", false).words, "7 May 2023\nAnn: And more.");
        assert_eq!(Surroundings::default().render("Plain.", true).words, "Plain.");
        assert_eq!(around.render("Yes.", true).embedded, "Ann: Yes.");
        let titled = Surroundings { title: Some("Plans".into()), ..Surroundings::default() };
        assert_eq!(titled.render("Go.", false).embedded, "Plans\nGo.");
    }
}
