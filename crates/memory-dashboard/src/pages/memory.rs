//! One text: what is said of it, its revisions and places, what was found in it and where, who asked for it; saying something
//! else of it, and forgetting it.

use std::fmt::Write;

use axum::extract::Path;
use maud::{Markup, html};
use memory_core::id::{AnyId, ArtifactId};
use memory_engine::audit::{AuditFilter, Recorded};
use memory_engine::browsing::{Amendment, GoingAlong, LineRevision};
use memory_engine::forget::Forgotten;
use memory_engine::recall::{Recall, RecallDraft, RecallRequest, Recalled};
use memory_language::text::cut;

use crate::failure::Failure;
use crate::fields::Fields;
use crate::layout::csrf;
use crate::show::{self, PART_CHARS};
use crate::visit::{Answer, Visit, see_other};

/// How many entries of the audit are shown of a text.
const RECALLS_SHOWN: i64 = 20;

fn artifact_of(id: &str) -> Result<ArtifactId, Failure> {
    match AnyId::parse(id)? {
        AnyId::Artifact(id) => Ok(id),
        AnyId::Event(_) => Err(Failure::missing("That text")),
    }
}

async fn recalled(visit: &Visit, id: &str, cursor: Option<String>) -> Result<Recall, Failure> {
    let draft = RecallDraft { id: Some(id.to_owned()), cursor, ..RecallDraft::default() };
    Ok(visit.memory.recall(&visit.namespace, &RecallRequest::new(draft)?).await?)
}

/// To the text that an event was found in.
pub(crate) async fn of_event(visit: Visit, fields: Fields) -> Answer {
    let id = fields.get("id").unwrap_or_default();
    let found = recalled(&visit, id, None).await?;
    let hit = found.results.first().ok_or_else(|| Failure::missing("That event"))?;
    let start = hit.hit.events.first().and_then(|event| event.evidence.first()).map_or(0, |e| e.start_char);
    let address = visit.at(&format!("memory/{}?from={}#{id}", hit.hit.artifact_id, show::part_of(start)));
    Ok(see_other(&address))
}

/// A text as its page shows it.
struct Shown<'a> {
    found: &'a Recall,
    result: &'a Recalled,
    line: &'a [LineRevision],
    part: &'a str,
    from: usize,
    chars: usize,
    read_by: &'a [Recorded],
}

pub(crate) async fn page(visit: Visit, Path((_, id)): Path<(String, String)>, fields: Fields) -> Answer {
    let artifact = artifact_of(&id)?;
    let from = fields.number::<usize>("from").unwrap_or(0) / PART_CHARS * PART_CHARS;
    let found = recalled(&visit, &id, fields.owned("cursor")).await?;
    let result = found.results.first().ok_or_else(|| Failure::missing("That text"))?;
    let ns = &visit.namespace;
    let filter = AuditFilter { id: Some(id.clone()), namespace: Some(ns.clone()), ..AuditFilter::default() };
    let audited = async {
        if visit.visitor.is_admin() {
            visit.memory.audit().list(&filter, RECALLS_SHOWN).await
        } else {
            Ok(Vec::new())
        }
    };
    let (line, part, read_by) = futures::try_join!(
        visit.memory.line_of(ns, &artifact),
        visit.memory.text_part(ns, &artifact, from, PART_CHARS),
        audited,
    )?;
    let (part, chars) = part.ok_or_else(|| Failure::missing("That text"))?;
    visit.record("recall", false, vec![id], "ok").await;
    let shown = Shown { found: &found, result, line: &line, part: &part, from, chars, read_by: &read_by };
    let title = title_of(result);
    visit.page(&show::isolated(&cut(&title, 60)), &body(&visit, &shown))
}

fn title_of(result: &Recalled) -> String {
    let beginning = || cut(result.content.as_deref().unwrap_or(&result.snippet), 80);
    result.hit.title.clone().unwrap_or_else(beginning)
}

fn body(visit: &Visit, shown: &Shown) -> Markup {
    let hit = &shown.result.hit;
    html! {
        div.page-head {
            div {
                p.crumbs { a href=(visit.at("browse")) { "Browse" } " / " code { (hit.artifact_id.0) } }
                h1 { (show::own(&title_of(shown.result))) }
            }
            @if visit.visitor.may_write() {
                div.actions { a.button.danger href=(visit.at(&format!("memory/{}/forget", hit.artifact_id))) { "Forget…" } }
            }
        }
        @for warning in &shown.found.warnings { p.notice.plain { (warning) } }
        @if !hit.is_latest {
            p.notice.plain {
                "This text is outdated. "
                @if let Some(newer) = &hit.superseded_by { a href=(visit.at(&format!("memory/{newer}"))) { "What replaced it" } }
            }
        }
        div.split {
            div {
                (source(visit, shown))
                (events(visit, shown))
            }
            aside {
                (said(visit, shown))
                (named(visit, shown))
                (places(visit, shown))
                (revisions(visit, shown))
                (readers(shown))
            }
        }
    }
}

fn source(visit: &Visit, shown: &Shown) -> Markup {
    let labels: Vec<(usize, usize, String)> = shown
        .result
        .hit
        .events
        .iter()
        .flat_map(|event| event.evidence.iter().map(move |evidence| (event, evidence)))
        .filter(|(_, evidence)| evidence.artifact_id == shown.result.hit.artifact_id.0)
        .map(|(event, e)| (e.start_char, e.end_char, format!("{}: {}", event.category, event.narrative)))
        .collect();
    let spans: Vec<(usize, usize, &str)> =
        labels.iter().map(|(start, end, label)| (*start, *end, label.as_str())).collect();
    let ends = (shown.from + PART_CHARS).min(shown.chars);
    let part = |from: usize| {
        format!("{}?from={from}", visit.at(&format!("memory/{}", shown.result.hit.artifact_id)))
    };
    html! {
        section.panel aria-labelledby="text" {
            h2 #text { "Text" }
            div.content tabindex="0" { (show::highlighted(shown.part, shown.from, &spans)) }
            @if shown.chars > PART_CHARS {
                p.pager {
                    @if shown.from > 0 { a.button href=(part(shown.from - PART_CHARS)) { "Before" } }
                    span.muted { "characters " (show::number(shown.from as i64 + 1)) " to " (show::number(ends as i64)) " of " (show::number(shown.chars as i64)) }
                    @if ends < shown.chars { a.button href=(part(ends)) { "After" } }
                }
            }
        }
    }
}

fn events(visit: &Visit, shown: &Shown) -> Markup {
    let hit = &shown.result.hit;
    html! {
        section.panel aria-labelledby="found" {
            h2 #found { "Found in it" @if hit.event_count > 0 { span.muted { " · " (show::counted(hit.event_count, "event")) } } }
            @if hit.events.is_empty() {
                @if hit.is_unread {
                    p.muted { "It was not read yet: " a href=(visit.at("jobs")) { "its job" } " waits." }
                } @else {
                    p.muted { "No commitment, decision, risk or the like was found." }
                }
            }
            @for event in &hit.events { (show::event(visit, event, None)) }
            @if let Some(cursor) = &shown.found.next_cursor {
                p { a.button href=(format!("{}{}", visit.at(&format!("memory/{}", hit.artifact_id)), crate::fields::query(&[("cursor", cursor)]))) { "More" } }
            }
        }
    }
}

fn said(visit: &Visit, shown: &Shown) -> Markup {
    let hit = &shown.result.hit;
    html! {
        section.panel aria-labelledby="said" {
            h2 #said { "About it" }
            dl.rows {
                dt { "Kind" } dd { (hit.context) }
                dt { "Date" } dd { (show::time(hit.date)) }
                @if let Some(author) = &hit.author { dt { "Author" } dd { (show::own(author)) } }
                @if let Some(role) = &hit.role { dt { "Role" } dd { (role) } }
                @if !hit.participants.is_empty() { dt { "Participants" } dd { @for (n, name) in hit.participants.iter().enumerate() { @if n > 0 { ", " } (show::own(name)) } } }
                dt { "Importance" } dd { (format!("{:.2}", hit.importance)) }
                dt { "Tags" }
                dd {
                    @if hit.tags.is_empty() { span.muted { "none" } }
                    @for tag in &hit.tags {
                        a.chip.plain href=(format!("{}{}", visit.at("browse"), crate::fields::query(&[("tags", tag)]))) { (show::own(tag)) } " "
                    }
                }
                dt { "Length" } dd { (show::number(shown.chars as i64)) " characters" }
            }
            @if visit.visitor.may_write() && hit.is_latest {
                details.edit {
                    summary { "Edit" }
                    form.stack method="post" action=(visit.at(&format!("memory/{}/edit", hit.artifact_id))) {
                        (csrf(visit))
                        label { "Title" input type="text" name="title" value=(hit.title.as_deref().unwrap_or_default()) maxlength="500"; }
                        label { "Tags" input type="text" name="tags" value=(hit.tags.join(", ")) placeholder="one, two" maxlength="5000"; }
                        label { "Importance" input type="number" name="importance" min="0" max="1" step="any" value=(format!("{}", hit.importance)); }
                        button.primary type="submit" { "Save" }
                    }
                }
            }
        }
    }
}

fn named(visit: &Visit, shown: &Shown) -> Markup {
    html! {
        @if !shown.found.entities.is_empty() {
            section.panel aria-labelledby="named" {
                h2 #named { "Named in it" }
                p.names { (show::entities(visit, &shown.found.entities)) }
            }
        }
    }
}

fn places(visit: &Visit, shown: &Shown) -> Markup {
    html! {
        @if !shown.found.places.is_empty() {
            section.panel aria-labelledby="places" {
                h2 #places { "Places" @if shown.found.place_count > 1 { span.muted { " · " (shown.found.place_count) } } }
                ul.plain {
                    @for place in &shown.found.places {
                        li {
                            @match (&place.conversation_id, &place.source_id) {
                                (Some(conversation), _) => {
                                    "Conversation "
                                    a href=(format!("{}{}", visit.at("browse"), crate::fields::query(&[("conversation", conversation), ("order", "oldest")]))) { (show::own(&cut(conversation, 40))) }
                                    @if let Some(turn) = place.turn_index { ", turn " (turn) }
                                },
                                (None, Some(id)) => { (show::own(place.source.as_deref().unwrap_or("source"))) " " code { (show::own(&cut(id, 80))) } },
                                (None, None) => { (show::own(place.source.as_deref().unwrap_or("By itself"))) },
                            }
                            @if place.is_superseded { " " (show::chip("warn", "replaced")) }
                        }
                    }
                }
            }
        }
    }
}

fn revisions(visit: &Visit, shown: &Shown) -> Markup {
    html! {
        section.panel aria-labelledby="revisions" {
            h2 #revisions { "Revisions" }
            ol.revisions {
                @for revision in shown.line {
                    @let is_this = revision.artifact_id == shown.result.hit.artifact_id.0;
                    li {
                        @if is_this { strong { "This text" } }
                        @else { a href=(visit.at(&format!("memory/{}", revision.artifact_id))) { (show::own(&revision.title.as_deref().map_or_else(|| revision.artifact_id.clone(), |t| cut(t, 40)))) } }
                        @if revision.is_latest { " " (show::chip("good", "latest")) }
                        p.muted { "stored " (show::time(revision.created_at)) " · " (show::number(i64::from(revision.char_count))) " characters" }
                    }
                }
            }
        }
    }
}

fn readers(shown: &Shown) -> Markup {
    html! {
        @if !shown.read_by.is_empty() {
            section.panel aria-labelledby="readers" {
                h2 #readers { "Who used it" }
                ul.plain {
                    @for entry in shown.read_by { li { (show::own(&entry.who)) " " span.muted { (entry.action) " " (show::ago(entry.at)) } } }
                }
            }
        }
    }
}

fn along(going: GoingAlong) -> String {
    let mut text = show::counted(going.revisions, "revision");
    for (count, noun) in [(going.chunks, "chunk"), (going.events, "event")] {
        if count > 0 {
            let _ = write!(text, ", {}", show::counted(count, noun));
        }
    }
    if going.entities > 0 {
        let _ = write!(text, ", and {} that no other text names", show::counted(going.entities, "entity"));
    }
    text
}

/// What would go, before it goes.
pub(crate) async fn confirm(visit: Visit, Path((_, id)): Path<(String, String)>) -> Answer {
    visit.needs_writer()?;
    let artifact = artifact_of(&id)?;
    let found = recalled(&visit, &id, None).await?;
    let result = found.results.first().ok_or_else(|| Failure::missing("That text"))?;
    let going = visit.memory.going_along(&visit.namespace, &artifact).await?;
    let body = html! {
        div.page-head { h1 { "Forget this text?" } }
        div.panel.stack {
            p { strong { (show::own(&title_of(result))) } }
            p { "It goes for good, and with it: " (along(going)) "." }
            @if found.place_count > 1 { p { "It is at " (found.place_count) " places; it goes from all of them." } }
            form.actions method="post" action=(visit.at(&format!("memory/{id}/forget"))) {
                (csrf(&visit))
                button.danger type="submit" { "Forget it" }
                a.button href=(visit.at(&format!("memory/{id}"))) { "Keep it" }
            }
        }
    };
    visit.page("Forget", &body)
}

pub(crate) async fn forget(visit: Visit, Path((_, id)): Path<(String, String)>) -> Answer {
    visit.needs_writer()?;
    let artifact = artifact_of(&id)?;
    let forgotten = visit.memory.forget(&visit.namespace, &AnyId::Artifact(artifact), true).await;
    let outcome = if forgotten.is_ok() { "ok" } else { "failed" };
    visit.record("forget", true, vec![id], outcome).await;
    match forgotten? {
        Forgotten::Deleted(cascade) => {
            let said = format!(
                "Forgotten, with {} and {}.",
                show::counted(cascade.events, "event"),
                show::counted(cascade.entities, "entity")
            );
            visit.done(&visit.at("browse"), said)
        }
        _ => Err(Failure::missing("That text")),
    }
}

pub(crate) async fn edit(visit: Visit, Path((_, id)): Path<(String, String)>) -> Answer {
    visit.needs_writer()?;
    let artifact = artifact_of(&id)?;
    let form = &visit.form;
    let amendment = Amendment {
        title: form.raw("title").map(str::to_owned),
        tags: form.raw("tags").map(|_| form.listed("tags")),
        add_tags: Vec::new(),
        importance: form.number("importance"),
    };
    let amended = visit.memory.amend(&visit.namespace, &artifact, &amendment).await;
    visit.record("remember", true, vec![id.clone()], if amended.is_ok() { "ok" } else { "refused" }).await;
    let page = visit.at(&format!("memory/{id}"));
    match amended {
        Ok(Some(_)) => visit.done(&page, "Saved."),
        Ok(None) => Err(Failure::missing("That text")),
        Err(memory_engine::EngineError::Invalid(invalid)) => visit.not_done(&page, invalid.0),
        Err(error) => Err(error.into()),
    }
}
