//! What a text is said to end, by its tags: commitments by `done:evt_…` and `cancelled:evt_…`, directives by `withdrawn:art_…`. The ids
//! of events are made anew when a text is read again otherwise, or imported: the tags are kept with the text and the characters that
//! tell the commitment or state the directive (`done:art_…#120-171`), and what ends by them is in `told_ending`.

use memory_core::Invalid;
use memory_core::event::{Category, StoredEvent};
use memory_core::id::Namespace;
use memory_language::text::CharSpan;
use memory_store::{directives, hydration};

use crate::{EngineError, Memory};

/// What these tags begin with, in small letters.
const OF_COMMITMENTS: [&str; 2] = ["done:", "cancelled:"];
const OF_DIRECTIVES: &str = "withdrawn:";

impl Memory {
    /// The tags as they are kept. Refuses those that name what is no commitment, or no directive.
    pub(crate) async fn with_endings(
        &self,
        ns: &Namespace,
        tags: Vec<String>,
    ) -> Result<Vec<String>, EngineError> {
        let events: Vec<String> = tags.iter().filter_map(|tag| Some(ended_commitment(tag)?.1)).collect();
        let texts: Vec<String> = tags.iter().filter_map(|tag| Some(withdrawn(tag)?.0)).collect();
        if events.is_empty() && texts.is_empty() {
            return Ok(tags);
        }
        let find = || async {
            let mut conn = self.store.acquire(ns).await?;
            let found = hydration::events(&mut conn, ns, &events).await?;
            let mut stated = Vec::with_capacity(texts.len());
            for text in &texts {
                stated.push((text.clone(), directives::stated_in(&mut conn, ns, text).await?));
            }
            conn.done();
            Ok((found, stated))
        };
        let (found, stated) = self.recovery.retry_transient(find).await?;
        let kept = |tag: String| {
            if let Some((how, id)) = ended_commitment(&tag) {
                return of_commitment(&tag, how, &id, &found);
            }
            let Some((text, span)) = withdrawn(&tag) else { return Ok(tag) };
            let of_text = stated.iter().find(|(id, _)| *id == text).map_or(&[][..], |(_, stated)| stated);
            of_directive(&tag, &text, span, of_text)
        };
        Ok(tags.into_iter().map(kept).collect::<Result<_, _>>()?)
    }
}

/// How a tag says that a commitment is ended, and the id that it names. What was kept names a text with characters.
fn ended_commitment(tag: &str) -> Option<(&'static str, String)> {
    let lower = tag.to_ascii_lowercase();
    let (how, id) = OF_COMMITMENTS.iter().find_map(|how| Some((*how, lower.strip_prefix(how)?.trim())))?;
    let is_id = id.starts_with("evt_") || (id.starts_with("art_") && !id.contains('#'));
    is_id.then(|| (how, id.to_owned()))
}

/// The text whose directive a tag withdraws, and the characters where it names them.
fn withdrawn(tag: &str) -> Option<(String, Option<CharSpan>)> {
    let lower = tag.to_ascii_lowercase();
    let named = lower.strip_prefix(OF_DIRECTIVES)?.trim();
    if !["art_", "evt_"].iter().any(|kind| named.starts_with(kind)) {
        return None;
    }
    let (text, span) = named.split_once('#').map_or((named, None), |(text, span)| (text, Some(span)));
    Some((text.to_owned(), span.and_then(characters)))
}

fn of_commitment(tag: &str, how: &str, id: &str, found: &[StoredEvent]) -> Result<String, Invalid> {
    let event = found.iter().find(|event| event.id == id);
    let is = match event {
        None => format!("there is no commitment {id}"),
        Some(event) if event.category != Category::Commitment.as_str() => {
            format!("{id} is of category {}, and only a commitment can be done or cancelled", event.category)
        }
        Some(event) => match event.evidence.first() {
            Some(at) => return Ok(format!("{how}{}#{}-{}", at.artifact_id, at.start_char, at.end_char)),
            None => format!("nothing tells {id} any more"),
        },
    };
    let advice = "The ids of commitments are in the results of recall with state=open or state=overdue";
    Err(Invalid::new(format!("Invalid tags '{tag}': {is}. {advice}.")))
}

/// A tag without characters may name the only directive of a text.
fn of_directive(
    tag: &str,
    text: &str,
    span: Option<CharSpan>,
    stated: &[(CharSpan, String)],
) -> Result<String, Invalid> {
    let named = |span: &CharSpan| format!("{OF_DIRECTIVES}{text}#{}-{}", span.start, span.end);
    match (stated, span) {
        // As it was kept; the text is gone, or is read otherwise now.
        ([], Some(span)) if text.starts_with("art_") => Ok(named(&span)),
        ([], _) => Err(Invalid::new(format!(
            "Invalid tags '{tag}': no text {text} states a directive. The directives of recall and briefing have the artifact_id of theirs."
        ))),
        ([(only, _)], None) => Ok(named(only)),
        (several, span) => {
            if let Some(span) = span.filter(|span| several.iter().any(|(stated, _)| is_mostly(stated, span)))
            {
                return Ok(named(&span));
            }
            let choices: Vec<String> =
                several.iter().map(|(span, quote)| format!("{} (\"{quote}\")", named(span))).collect();
            Err(Invalid::new(format!(
                "Invalid tags '{tag}': say which directive of {text} it is: {}.",
                choices.join(", ")
            )))
        }
    }
}

/// The characters that a tag names, such as "0-46".
fn characters(span: &str) -> Option<CharSpan> {
    let (start, end) = span.split_once('-')?;
    let (start, end) = (start.parse().ok()?, end.parse().ok()?);
    (start < end).then(|| CharSpan::new(start, end))
}

/// Whether most of the shorter of two spans is in the other: rules of another version may state a little more or less.
fn is_mostly(one: &CharSpan, other: &CharSpan) -> bool {
    let common = one.end.min(other.end).saturating_sub(one.start.max(other.start));
    common > (one.end - one.start).min(other.end - other.start) / 2
}
