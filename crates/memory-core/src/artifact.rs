//! Artifacts (contents), places and revisions (a content at a place and time).

use jiff::Timestamp;
use memory_language::text::cut;

use crate::Invalid;
use crate::closed_set::closed_set;
use crate::date::{parse_date, stamped_date};
use crate::id::ContentHash;

/// The longest content, in characters.
pub const CONTENT_MAX_CHARS: usize = 10_000_000;
/// The longest title, author, source, source id, conversation id, participant or tag, in characters.
pub const FIELD_MAX_CHARS: usize = 500;
/// The most participants, and the most tags.
pub const LIST_MAX_ITEMS: usize = 100;
/// The longest summary, in characters.
pub const SUMMARY_MAX_CHARS: usize = 200;

closed_set! {
    /// What kind of content it is.
    Context {
        Meeting = "meeting",
        Email = "email",
        Document = "document",
        Chat = "chat",
        Transcript = "transcript",
        Note = "note",
        Preference = "preference",
        Fact = "fact",
        Decision = "decision",
        Project = "project",
        Conversation = "conversation",
    }
}

impl Context {
    pub fn parse_or_explain(text: &str) -> Result<Self, Invalid> {
        Self::parse(text.trim()).ok_or_else(|| {
            Invalid::new(format!("Invalid context '{}'. Must be one of: {}", cut(text, 60), Self::names()))
        })
    }
}

closed_set! {
    /// The kind of speaker of a conversation turn.
    Role { User = "user", Assistant = "assistant", System = "system" }
}

/// What `remember` is given, unchecked: the field names of the tool.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub content: String,
    pub context: Option<String>,
    pub source: Option<String>,
    pub source_id: Option<String>,
    pub importance: Option<f64>,
    pub title: Option<String>,
    pub author: Option<String>,
    pub participants: Vec<String>,
    pub date: Option<String>,
    pub conversation_id: Option<String>,
    pub turn_index: Option<i64>,
    pub role: Option<String>,
    pub tags: Vec<String>,
}

/// A content and its metadata, checked: it can be stored as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct NewArtifact {
    pub content: String,
    pub hash: ContentHash,
    pub meta: Metadata,
}

/// What a revision says about its content.
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    pub context: Context,
    pub source: Option<String>,
    pub source_id: Option<String>,
    pub author: Option<String>,
    pub role: Option<Role>,
    pub participants: Vec<String>,
    pub date: Option<Timestamp>,
    pub title: Option<String>,
    pub tags: Vec<String>,
    /// 0 to 1.
    pub importance: f32,
    pub conversation_id: Option<String>,
    pub turn_index: Option<i32>,
}

/// The place of a content: a conversation turn, a document of a source, or the content itself, once for each author.
/// Two contents at one place are two revisions of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArtifactUid(pub String);

impl Metadata {
    pub fn uid(&self, hash: &ContentHash) -> ArtifactUid {
        if let Some((conversation, turn)) = self.turn() {
            return ArtifactUid(format!("turn:{conversation}#{turn}"));
        }
        match &self.source_id {
            Some(source_id) => {
                ArtifactUid(format!("doc:{}\u{1f}{source_id}", self.source.as_deref().unwrap_or_default()))
            }
            None => ArtifactUid(format!("content:{}", hex::encode(hash.0))),
        }
    }

    /// The place that a bare content has with its author, where that of the content itself has another author's.
    pub fn uid_of_author(&self, hash: &ContentHash) -> Option<ArtifactUid> {
        let is_bare = self.turn().is_none() && self.source_id.is_none();
        let author = self.author.as_deref().filter(|_| is_bare)?;
        Some(ArtifactUid(format!("{}\u{1f}{}", self.uid(hash).0, author.trim().to_lowercase())))
    }

    /// Whether both are said to be by somebody, and not by the same.
    pub fn has_another_author(&self, other: &Self) -> bool {
        let lower = |meta: &Self| meta.author.as_deref().map(|author| author.trim().to_lowercase());
        lower(self).zip(lower(other)).is_some_and(|(one, other)| one != other)
    }

    /// The conversation and the index of the turn, where the revision is one.
    pub fn turn(&self) -> Option<(&str, i32)> {
        Some((self.conversation_id.as_deref()?, self.turn_index?))
    }

    /// The speaker: the author, else the role.
    pub fn speaker(&self) -> Option<&str> {
        self.author.as_deref().or(self.role.map(Role::as_str))
    }
}

impl NewArtifact {
    pub fn new(draft: Draft) -> Result<Self, Invalid> {
        let content = draft.content;
        let chars = content.chars().count();
        if content.trim().is_empty() {
            return Err(Invalid::new("Invalid content: it is empty. Pass the text to remember."));
        }
        if chars > CONTENT_MAX_CHARS {
            return Err(Invalid::new(format!(
                "Invalid content: {chars} characters, the limit is {CONTENT_MAX_CHARS}. Split it into several calls."
            )));
        }
        no_nul("content", &content)?;
        let context = match draft.context.as_deref() {
            None => Context::Note,
            Some(text) => Context::parse_or_explain(text)?,
        };
        let role = match draft.role.as_deref() {
            None => None,
            Some(text) => Some(Role::parse(text.trim()).ok_or_else(|| {
                Invalid::new(format!("Invalid role '{}'. Must be one of: {}", cut(text, 60), Role::names()))
            })?),
        };
        let conversation_id = field("conversation_id", draft.conversation_id)?;
        let turn_index = match draft.turn_index {
            None => None,
            Some(index) => Some(i32::try_from(index).ok().filter(|i| *i >= 0).ok_or_else(|| {
                Invalid::new(format!(
                    "Invalid turn_index {index}. Use a whole number from 0 to {}.",
                    i32::MAX
                ))
            })?),
        };
        if context == Context::Conversation && (conversation_id.is_none() || turn_index.is_none()) {
            return Err(Invalid::new(
                "Context 'conversation' requires conversation_id and turn_index. Add both, or use context 'note'.",
            ));
        }
        if turn_index.is_some() && conversation_id.is_none() {
            return Err(Invalid::new("turn_index needs conversation_id. Add it, or leave turn_index out."));
        }
        let importance = draft.importance.unwrap_or(0.5);
        if !(0.0..=1.0).contains(&importance) {
            return Err(Invalid::new(format!(
                "Invalid importance {importance}. Use a number from 0.0 to 1.0."
            )));
        }
        let date = match draft.date.filter(|date| !date.trim().is_empty()) {
            Some(date) => Some(parse_date("date", &date)?),
            None => stamped_date(&content),
        };
        let hash = ContentHash::of(&content);
        let meta = Metadata {
            context,
            source: field("source", draft.source)?,
            source_id: field("source_id", draft.source_id)?,
            author: field("author", draft.author)?,
            role,
            participants: list("participants", draft.participants)?,
            date,
            title: field("title", draft.title)?,
            tags: list("tags", draft.tags)?,
            importance: importance as f32,
            conversation_id,
            turn_index,
        };
        Ok(Self { content, hash, meta })
    }

    /// The title if there is one, else the first sentence(s), at most 200 characters.
    pub fn summary(&self) -> String {
        self.summary_under(&self.meta)
    }

    /// The same with other metadata.
    pub fn summary_under(&self, meta: &Metadata) -> String {
        match &meta.title {
            Some(title) => cut(title, SUMMARY_MAX_CHARS),
            None => first_sentences(&self.content),
        }
    }
}

fn first_sentences(content: &str) -> String {
    use unicode_segmentation::UnicodeSegmentation;
    // Only the head of a long text is looked at; a sentence that long is cut anyway.
    let head_end = content.char_indices().nth(SUMMARY_MAX_CHARS * 4).map_or(content.len(), |(at, _)| at);
    let mut summary = String::new();
    for sentence in content[..head_end].trim_start().unicode_sentences() {
        let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
        if summary.is_empty() {
            summary = sentence;
        } else if summary.chars().count() + 1 + sentence.chars().count() <= SUMMARY_MAX_CHARS {
            summary.push(' ');
            summary.push_str(&sentence);
        } else {
            break;
        }
    }
    if summary.is_empty() {
        content[..head_end].trim().clone_into(&mut summary);
    }
    cut(&summary, SUMMARY_MAX_CHARS)
}

fn no_nul(name: &str, value: &str) -> Result<(), Invalid> {
    match value.chars().position(|c| c == '\0') {
        None => Ok(()),
        Some(at) => Err(Invalid::new(format!(
            "Invalid {name}: it has a NUL character at position {at}, which cannot be stored. Remove it."
        ))),
    }
}

/// An optional text field: trimmed, absent when empty, within its limit.
pub fn field(name: &str, value: Option<String>) -> Result<Option<String>, Invalid> {
    let Some(value) = value else { return Ok(None) };
    no_nul(name, &value)?;
    let value = value.trim();
    let chars = value.chars().count();
    if chars > FIELD_MAX_CHARS {
        return Err(Invalid::new(format!(
            "Invalid {name} '{}': {chars} characters, the limit is {FIELD_MAX_CHARS}.",
            cut(value, 40)
        )));
    }
    Ok((!value.is_empty()).then(|| value.to_owned()))
}

/// A list of short texts: each within the field limit, none empty, none twice.
pub fn list(name: &str, values: Vec<String>) -> Result<Vec<String>, Invalid> {
    if values.len() > LIST_MAX_ITEMS {
        return Err(Invalid::new(format!(
            "Invalid {name}: {} items, the limit is {LIST_MAX_ITEMS}.",
            values.len()
        )));
    }
    let mut kept: Vec<String> = Vec::with_capacity(values.len());
    for value in values {
        if let Some(value) = field(name, Some(value))?
            && !kept.contains(&value)
        {
            kept.push(value);
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(content: &str) -> Draft {
        Draft { content: content.into(), ..Draft::default() }
    }

    #[test]
    fn a_wrong_context_is_named_with_all_right_ones() {
        let error = NewArtifact::new(Draft { context: Some("memo".into()), ..draft("x") }).unwrap_err().0;
        assert_eq!(
            error,
            "Invalid context 'memo'. Must be one of: meeting, email, document, chat, transcript, note, preference, \
             fact, decision, project, conversation"
        );
    }

    #[test]
    fn a_conversation_turn_needs_its_place() {
        let turn =
            Draft { context: Some("conversation".into()), conversation_id: Some("c".into()), ..draft("hi") };
        assert!(NewArtifact::new(turn.clone()).unwrap_err().0.contains("turn_index"));
        let placed = NewArtifact::new(Draft { turn_index: Some(3), ..turn }).unwrap();
        assert_eq!(placed.meta.uid(&placed.hash).0, "turn:c#3");
    }

    #[test]
    fn bad_values_are_refused_with_the_value() {
        for (bad, needle) in [
            (draft("  \n"), "empty"),
            (draft("a\0b"), "NUL character at position 1"),
            (Draft { importance: Some(1.5), ..draft("x") }, "1.5"),
            (Draft { importance: Some(f64::NAN), ..draft("x") }, "NaN"),
            (Draft { role: Some("robot".into()), ..draft("x") }, "robot"),
            (Draft { turn_index: Some(-1), conversation_id: Some("c".into()), ..draft("x") }, "-1"),
            (Draft { turn_index: Some(1), ..draft("x") }, "conversation_id"),
            (Draft { title: Some("t".repeat(501)), ..draft("x") }, "501"),
            (Draft { tags: vec!["t".into(); 101], ..draft("x") }, "101"),
        ] {
            let error = NewArtifact::new(bad).unwrap_err().0;
            assert!(error.contains(needle), "{error}");
        }
    }

    #[test]
    fn the_same_text_has_a_place_per_document() {
        let place = |source_id: Option<&str>| {
            let new = NewArtifact::new(Draft {
                source: Some("wiki".into()),
                source_id: source_id.map(Into::into),
                ..draft("same")
            })
            .unwrap();
            new.meta.uid(&new.hash)
        };
        assert_ne!(place(Some("a")), place(Some("b")));
        assert_eq!(place(None), place(None));
    }

    #[test]
    fn the_summary_is_the_title_or_the_first_sentences() {
        let titled = NewArtifact::new(Draft { title: Some("Budget".into()), ..draft("We met.") }).unwrap();
        assert_eq!(titled.summary(), "Budget");
        let plain = NewArtifact::new(draft("We met. We\nagreed. ")).unwrap();
        assert_eq!(plain.summary(), "We met. We agreed.");
        let long = NewArtifact::new(draft(&"word ".repeat(100))).unwrap();
        assert!(long.summary().chars().count() <= SUMMARY_MAX_CHARS);
        assert!(long.summary().ends_with('…'));
    }
}
