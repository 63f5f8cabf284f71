//! The table of texts: filtered, ordered, a page after the other; and what is done with several at once.

use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use maud::{Markup, html};
use memory_core::artifact::Context;
use memory_core::id::{AnyId, ArtifactId};
use memory_engine::browsing::{
    Amendment, COUNTED_MAX, ListedText, PAGE_MAX, StoredText, TextOrder, TextPage, TextsWanted,
};
use memory_engine::recall::{RecallDraft, RecallRequest};
use memory_language::text::cut;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::fields::Fields;
use crate::layout::csrf;
use crate::show;
use crate::visit::{Answer, Visit};

const PAGE: i64 = 50;

/// The filters of the form, checked as those of the tool are.
fn wanted(fields: &Fields) -> Result<TextsWanted, Failure> {
    let draft = RecallDraft {
        // A request asks for something: the filters alone are taken from it.
        query: Some("-".to_owned()),
        context: fields.owned("context"),
        source: fields.owned("source"),
        author: fields.owned("author"),
        conversation_id: fields.owned("conversation"),
        date_from: fields.owned("from"),
        date_to: fields.owned("to"),
        tags: fields.listed("tags"),
        min_importance: fields.number("importance"),
        include_superseded: Some(fields.has("superseded")),
        ..RecallDraft::default()
    };
    let order = match fields.get("order") {
        Some("oldest") => TextOrder::Oldest,
        Some("important") => TextOrder::Important,
        _ => TextOrder::Newest,
    };
    let filters = RecallRequest::new(draft)?.filters;
    Ok(TextsWanted { filters, order, cursor: fields.owned("cursor"), limit: PAGE })
}

fn filters(visit: &Visit, fields: &Fields) -> Markup {
    let field = |name: &str| fields.raw(name).unwrap_or_default().to_owned();
    let contexts: Vec<(&str, &str)> = std::iter::once(("", "any kind"))
        .chain(Context::ALL.iter().map(|c| (c.as_str(), c.as_str())))
        .collect();
    let orders = [("", "newest first"), ("oldest", "oldest first"), ("important", "most important first")];
    let narrow = ["author", "source", "tags", "from", "to", "importance", "superseded", "conversation"];
    html! {
        form.filters-bar method="get" action=(visit.at("browse")) {
            label { span.sr { "Kind" } select name="context" { (show::options(&contexts, fields.get("context"))) } }
            label { span.sr { "Order" } select name="order" { (show::options(&orders, fields.get("order"))) } }
            details.filters open[narrow.iter().any(|name| fields.has(name))] {
                summary { "More filters" }
                div.filter-fields {
                    label { "Author" input type="text" name="author" value=(field("author")) maxlength="500"; }
                    label { "Source" input type="text" name="source" value=(field("source")) maxlength="500"; }
                    label { "Conversation" input type="text" name="conversation" value=(field("conversation")) maxlength="500"; }
                    label { "Tags" input type="text" name="tags" value=(field("tags")) placeholder="one, two" maxlength="2000"; }
                    label { "From" input type="date" name="from" value=(field("from")); }
                    label { "To" input type="date" name="to" value=(field("to")); }
                    label { "Importance at least" input type="number" name="importance" min="0" max="1" step="0.05" value=(field("importance")); }
                    label.check { input type="checkbox" name="superseded" value="1" checked[fields.has("superseded")]; "Outdated texts as well" }
                }
            }
            button type="submit" { "Show" }
        }
    }
}

fn row(visit: &Visit, text: &ListedText) -> Markup {
    let title = text.title.clone().filter(|title| !title.is_empty());
    let beginning = cut(&text.beginning.split_whitespace().collect::<Vec<_>>().join(" "), 110);
    html! {
        tr {
            td.pick {
                input type="checkbox" name="id" value=(text.artifact_id)
                    aria-label=(format!("Select {}", show::isolated(title.as_deref().unwrap_or(&beginning))));
            }
            th scope="row" {
                a href=(visit.at(&format!("memory/{}", text.artifact_id))) { (show::own(&title.as_deref().map_or_else(|| beginning.clone(), |t| cut(t, 110)))) }
                @if title.is_some() { p.muted.one-line { (show::own(&beginning)) } }
                @if !text.is_latest { " " (show::chip("warn", "outdated")) }
            }
            td { (text.context) }
            td { @match (&text.author, &text.source) { (Some(author), _) => (show::own(&cut(author, 30))), (None, Some(source)) => (show::own(&cut(source, 30))), _ => span.muted { "–" } } }
            td { @for tag in text.tags.iter().take(3) { (show::chip("plain", &cut(tag, 20))) " " } @if text.tags.len() > 3 { span.muted { "+" (text.tags.len() - 3) } } }
            td.num { (format!("{:.2}", text.importance)) }
            td.num { @match text.event_count { Some(events) => (events), None => span.muted title="not read yet" { "…" } } }
            td.num.nowrap { (show::day(text.date)) }
        }
    }
}

fn table(visit: &Visit, fields: &Fields, page: &TextPage) -> Markup {
    html! {
        form #selection method="post" action=(visit.at("browse")) data-selection=(PAGE_MAX) {
            (csrf(visit))
            input type="hidden" name="back" value=(visit.here);
            div.bulk {
                label.check { input type="checkbox" data-all; "All shown" }
                span.muted data-selected aria-live="polite" {}
                span.spacer {}
                @if visit.visitor.may_write() {
                    label { span.sr { "Tags to add" } input type="text" name="add" placeholder="tags to add" maxlength="1000"; }
                    button type="submit" name="action" value="tag" { "Tag" }
                }
                button type="submit" name="action" value="export" { "Export" }
                @if visit.visitor.may_write() { button.danger type="submit" name="action" value="forget" { "Forget…" } }
            }
            div.table-wrap tabindex="0" role="region" aria-label="Texts" {
                table.texts {
                    thead {
                        tr {
                            th.pick { span.sr { "Select" } }
                            th scope="col" { "Text" } th scope="col" { "Kind" } th scope="col" { "From" } th scope="col" { "Tags" }
                            th.num scope="col" { "Importance" } th.num scope="col" { "Events" } th.num scope="col" { "Date" }
                        }
                    }
                    tbody #rows { @for text in &page.texts { (row(visit, text)) } }
                }
            }
        }
        (show::more(page.next_cursor.as_ref().map(|cursor| format!("{}?{}", visit.at("browse"), fields.query_with(&[("cursor", cursor)]))), "rows"))
    }
}

pub(crate) async fn page(visit: Visit, fields: Fields) -> Answer {
    let page = visit.memory.list_texts(&visit.namespace, &wanted(&fields)?).await?;
    let is_narrowed = ["context", "author", "source", "conversation", "tags", "from", "to", "importance"]
        .iter()
        .any(|name| fields.has(name));
    let count = if page.count > COUNTED_MAX {
        format!("more than {} texts", show::number(COUNTED_MAX))
    } else {
        show::counted(page.count, "text")
    };
    let ids = page.texts.iter().map(|text| text.artifact_id.clone()).collect();
    visit.record("recall", false, ids, "ok").await;
    let body = html! {
        div.page-head {
            h1 { "Browse" span.count { (count) } }
            @if visit.visitor.may_write() { div.actions { a.button.primary href=(visit.at("import")) { "Add texts" } } }
        }
        (filters(&visit, &fields))
        @if page.texts.is_empty() {
            @if is_narrowed {
                (show::empty("No text is like that", &html! { p { a href=(visit.at("browse")) { "Show all" } } }))
            } @else {
                (show::empty("Nothing is remembered yet", &html! { p { "What agents remember shows up here." } }))
            }
        } @else {
            (table(&visit, &fields, &page))
        }
    };
    visit.page("Browse", &body)
}

fn chosen(form: &Fields) -> Result<Vec<ArtifactId>, Failure> {
    let ids: Vec<ArtifactId> = form
        .all("id")
        .map(|id| match AnyId::parse(id) {
            Ok(AnyId::Artifact(id)) => Ok(id),
            _ => Err(Failure::missing("One of the texts")),
        })
        .collect::<Result<_, _>>()?;
    if ids.is_empty() || ids.len() > PAGE_MAX as usize {
        let reason = format!("{} texts are selected; select 1 to {PAGE_MAX}.", ids.len());
        return Err(memory_core::Invalid::new(reason).into());
    }
    Ok(ids)
}

/// What is done with the texts that are selected.
pub(crate) async fn act(visit: Visit) -> Answer {
    let back = visit.back("browse");
    let ids = match chosen(&visit.form) {
        Ok(ids) => ids,
        Err(failure) => return visit.not_done(&back, failure.reason),
    };
    match visit.form.get("action").unwrap_or_default() {
        "export" => export(&visit, &ids).await,
        "tag" => tag(&visit, &ids, &back).await,
        "forget" if visit.form.get("sure").is_none() => confirm(&visit, &ids, &back),
        "forget" => forget(&visit, &ids, &back).await,
        other => visit.not_done(&back, format!("Nothing is done by {other:?}.")),
    }
}

fn texts_of(ids: &[ArtifactId]) -> Vec<String> {
    ids.iter().map(|id| id.0.clone()).collect()
}

fn confirm(visit: &Visit, ids: &[ArtifactId], back: &str) -> Answer {
    visit.needs_writer()?;
    let body = html! {
        div.page-head { h1 { "Forget " (show::counted(ids.len() as i64, "text")) "?" } }
        div.panel.stack {
            p { "They go for good, and with them their revisions, their events, and entities that no other text names." }
            form.actions method="post" action=(visit.at("browse")) {
                (csrf(visit))
                input type="hidden" name="back" value=(back);
                input type="hidden" name="sure" value="1";
                @for id in ids { input type="hidden" name="id" value=(id.0); }
                button.danger type="submit" name="action" value="forget" { "Forget them" }
                a.button href=(back) { "Keep them" }
            }
        }
    };
    visit.page("Forget", &body)
}

async fn forget(visit: &Visit, ids: &[ArtifactId], back: &str) -> Answer {
    visit.needs_writer()?;
    let forgotten = visit.memory.forget_texts(&visit.namespace, ids).await;
    let outcome = if forgotten.is_err() { "failed" } else { "ok" };
    visit.record("forget", true, texts_of(ids), outcome).await;
    match forgotten {
        Ok(gone) => visit.done(back, format!("{} forgotten.", show::counted(gone as i64, "text"))),
        Err(error) => visit.not_done(back, format!("Nothing was forgotten: {error}")),
    }
}

async fn tag(visit: &Visit, ids: &[ArtifactId], back: &str) -> Answer {
    visit.needs_writer()?;
    let add_tags = visit.form.listed("add");
    if add_tags.is_empty() {
        return visit.not_done(back, "Write the tags to add beside the button.");
    }
    let amendment = Amendment { add_tags, ..Amendment::default() };
    let mut tagged = 0i64;
    for id in ids {
        match visit.memory.amend(&visit.namespace, id, &amendment).await {
            Ok(Some(_)) => tagged += 1,
            Ok(None) => {}
            Err(error) => {
                return visit
                    .not_done(back, format!("{} tagged; then: {error}", show::counted(tagged, "text")));
            }
        }
    }
    visit.record("remember", true, texts_of(ids), "ok").await;
    visit.done(back, format!("{} tagged.", show::counted(tagged, "text")))
}

/// A text in the words of the tool `remember`.
fn line(text: &StoredText) -> Value {
    let meta = &text.meta;
    let mut line =
        json!({ "content": text.content, "context": meta.context.as_str(), "importance": meta.importance });
    let texts = [
        ("title", meta.title.clone()),
        ("author", meta.author.clone()),
        ("source", meta.source.clone()),
        ("source_id", meta.source_id.clone()),
        ("conversation_id", meta.conversation_id.clone()),
        ("role", meta.role.map(|role| role.as_str().to_owned())),
        ("date", meta.date.map(|date| date.to_string())),
    ];
    for (name, value) in texts {
        if let Some(value) = value {
            line[name] = json!(value);
        }
    }
    if let Some(turn) = meta.turn_index {
        line["turn_index"] = json!(turn);
    }
    for (name, values) in [("tags", &meta.tags), ("participants", &meta.participants)] {
        if !values.is_empty() {
            line[name] = json!(values);
        }
    }
    line
}

async fn export(visit: &Visit, ids: &[ArtifactId]) -> Answer {
    let texts = visit.memory.stored_texts(&visit.namespace, &texts_of(ids)).await?;
    visit.record("recall", false, texts_of(ids), "ok").await;
    let lines: String = texts.iter().flat_map(|text| [line(text).to_string(), "\n".to_owned()]).collect();
    let mut response = lines.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/jsonl; charset=utf-8"));
    headers.insert(
        header::CONTENT_DISPOSITION,
        HeaderValue::from_static("attachment; filename=\"remembrancer-texts.jsonl\""),
    );
    Ok(response)
}
