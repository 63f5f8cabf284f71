//! Texts that come in by hand: a note, or files that are dropped.

use axum::Json;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use maud::html;
use memory_core::artifact::{Context, Draft};
use serde_json::json;

use crate::failure::Failure;
use crate::layout::csrf;
use crate::show;
use crate::visit::{Answer, Visit};

/// What dropped files are said to come from; each has its name as its id there, so that a newer one replaces it.
const SOURCE: &str = "files";

pub(crate) async fn page(visit: Visit) -> Answer {
    visit.needs_writer()?;
    let contexts: Vec<(&str, &str)> = Context::ALL.iter().map(|c| (c.as_str(), c.as_str())).collect();
    let body = html! {
        div.page-head { div { p.crumbs { a href=(visit.at("browse")) { "Browse" } } h1 { "Add texts" } } }
        section.panel aria-labelledby="files" {
            h2 #files { "Files" }
            div.drop data-import=(visit.at("import/file")) {
                p { "Drop text files here, or " label.link for="pick" { "choose some" } "." }
                input #pick.sr type="file" multiple accept=".txt,.md,.markdown,.org,.rst,.csv,.json,.html,.eml,.log,text/*";
                p.muted { "Plain text in UTF-8, up to 10 million characters each. A file of the same name replaces the one before it." }
                progress max="1" value="0" hidden aria-label="Sent" {}
                ul.files aria-live="polite" {}
            }
        }
        section.panel aria-labelledby="note" {
            h2 #note { "A note" }
            form.stack method="post" action=(visit.at("import")) {
                (csrf(&visit))
                label { "Text" textarea name="content" rows="8" required {} }
                div.filter-fields {
                    label { "Title" input type="text" name="title" maxlength="500"; }
                    label { "Kind" select name="context" { (show::options(&contexts, Some("note"))) } }
                    label { "Author" input type="text" name="author" maxlength="500"; }
                    label { "Tags" input type="text" name="tags" placeholder="one, two" maxlength="5000"; }
                }
                button.primary type="submit" { "Remember" }
            }
        }
    };
    visit.page("Add texts", &body)
}

/// The note of the form.
pub(crate) async fn note(visit: Visit) -> Answer {
    visit.needs_writer()?;
    let form = &visit.form;
    let draft = Draft {
        content: form.raw("content").unwrap_or_default().replace("\r\n", "\n"),
        title: form.owned("title"),
        context: form.owned("context"),
        author: form.owned("author"),
        tags: form.listed("tags"),
        ..Draft::default()
    };
    match visit.memory.remember(&visit.namespace, draft).await {
        Ok(remembered) => {
            visit.record("remember", true, vec![remembered.id.0.clone()], "ok").await;
            let said = if remembered.is_created { "Remembered." } else { "It was remembered already." };
            visit.done(&visit.at(&format!("memory/{}", remembered.id)), said)
        }
        Err(memory_engine::EngineError::Invalid(invalid)) => visit.not_done(&visit.at("import"), invalid.0),
        Err(error) => Err(error.into()),
    }
}

fn file_name(headers: &HeaderMap) -> Option<String> {
    let encoded = headers.get("x-file-name")?.to_str().ok()?;
    let pair = format!("n={}", encoded.replace('+', "%2B"));
    let (_, name) = url::form_urlencoded::parse(pair.as_bytes()).next()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// One file, as the body of the request.
pub(crate) async fn file(visit: Visit, headers: HeaderMap, body: Bytes) -> Result<Response, Failure> {
    visit.needs_writer()?;
    let name = file_name(&headers)
        .ok_or_else(|| Failure::new(StatusCode::BAD_REQUEST, "The file has no name (X-File-Name)."))?;
    let content = String::from_utf8(body.into())
        .map_err(|_| Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "It is not plain text in UTF-8."))?;
    let draft = Draft {
        content,
        title: Some(name.clone()),
        context: Some(Context::Document.as_str().to_owned()),
        source: Some(SOURCE.to_owned()),
        source_id: Some(name),
        ..Draft::default()
    };
    let remembered = visit.memory.remember_in_bulk(&visit.namespace, draft).await?;
    visit.record("remember", true, vec![remembered.id.0.clone()], "ok").await;
    let answer = json!({
        "id": remembered.id.0,
        "page": visit.at(&format!("memory/{}", remembered.id)),
        "created": remembered.is_created,
        "replaced": remembered.supersedes.is_some(),
    });
    Ok(Json(answer).into_response())
}
