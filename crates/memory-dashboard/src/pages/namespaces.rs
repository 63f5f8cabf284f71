//! Namespaces: what each holds, the archive of one, and forgetting all of one.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use futures::StreamExt;
use maud::{Markup, html};
use memory_core::id::Namespace;
use memory_engine::EngineError;
use memory_engine::archive::ArchiveImported;
use memory_engine::operations::Held;
use memory_engine::progress::unreported;
use tokio::io::BufReader;
use tokio_util::io::ReaderStream;

use crate::failure::Failure;
use crate::layout::csrf;
use crate::show;
use crate::visit::{Answer, Visit};

/// How many are counted on one page.
const SHOWN_MAX: usize = 50;
/// Bytes of an archive that are under way at a time.
const PIPE_BYTES: usize = 256 * 1024;

async fn open_namespaces(visit: &Visit) -> Result<Vec<Namespace>, Failure> {
    if let Some(grant) = &visit.visitor.grant {
        return Ok(grant.namespaces().to_vec());
    }
    let mut all = visit.memory.operations().namespaces().await?;
    for own in [&visit.namespace, &visit.dashboard.options.namespace] {
        if !all.contains(own) {
            all.push(own.clone());
        }
    }
    all.sort();
    Ok(all)
}

fn row(visit: &Visit, held: &Held) -> Markup {
    html! {
        tr {
            th scope="row" {
                a href=(format!("/ui/n/{}/overview", held.namespace)) { (held.namespace) }
                @if held.namespace == visit.namespace.as_str() { " " (show::chip("info", "shown")) }
            }
            td.num { (show::number(held.texts)) }
            td.num { (show::number(held.events)) }
            td.num { (show::number(held.entities)) }
            td.num { (show::number(held.graph_entities)) }
            td.num { @if held.failed_jobs > 0 { (show::chip("bad", &show::number(held.failed_jobs))) } @else { "0" } }
        }
    }
}

pub(crate) async fn page(visit: Visit) -> Answer {
    let namespaces = open_namespaces(&visit).await?;
    let shown = &namespaces[..namespaces.len().min(SHOWN_MAX)];
    let held = visit.memory.operations().held(shown).await?;
    let body = html! {
        div.page-head { h1 { "Namespaces" span.count { (show::counted(namespaces.len() as i64, "namespace")) } } }
        div.table-wrap tabindex="0" role="region" aria-label="Namespaces" {
            table {
                thead {
                    tr {
                        th scope="col" { "Name" } th.num scope="col" { "Texts" } th.num scope="col" { "Events" } th.num scope="col" { "Entities" }
                        th.num scope="col" { "Graph entities" } th.num scope="col" { "Failed jobs" }
                    }
                }
                tbody { @for one in &held { (row(&visit, one)) } }
            }
        }
        @if namespaces.len() > SHOWN_MAX { p.muted { "The first " (SHOWN_MAX) "; others are opened by their name in the address: " code { "/ui/n/NAME/overview" } } }
        div.columns {
            section.panel aria-labelledby="archive" {
                h2 #archive { "Archive of " (visit.namespace.as_str()) }
                p.muted { "All that it holds, as lines of JSON: texts with their revisions, what was found in them, decisions of people, the knowledge graph." }
                p.actions { a.button href=(visit.at("namespaces/export")) download { "Export" } }
                @if visit.visitor.may_write() {
                    div.drop data-archive=(visit.at("namespaces/import")) {
                        p { "Drop an archive here to add what is in it, or " label.link for="archive-file" { "choose one" } "." }
                        input #archive-file.sr type="file" accept=".jsonl,.json";
                        p.muted { "Up to 48 MB; larger ones by " code { "remembrancer import" } "." }
                        progress max="1" value="0" hidden aria-label="Sent" {}
                        ul.files aria-live="polite" {}
                    }
                }
            }
            @if visit.visitor.is_admin() && visit.visitor.may_write() {
                section.panel.danger-zone aria-labelledby="all" {
                    h2 #all { "Forget all of " (visit.namespace.as_str()) }
                    p { "All texts go for good, with their events and entities. The knowledge graph stays." }
                    form.stack method="post" action=(visit.at("namespaces/forget")) {
                        (csrf(&visit))
                        label { "Its name, to be sure" input type="text" name="name" required autocomplete="off" maxlength="64" data-must-be=(visit.namespace.as_str()); }
                        button.danger type="submit" { "Forget all texts" }
                    }
                }
            }
        }
    };
    visit.page("Namespaces", &body)
}

pub(crate) async fn forget(visit: Visit) -> Answer {
    visit.needs_admin()?;
    visit.needs_writer()?;
    let page = visit.at("namespaces");
    if visit.form.get("name") != Some(visit.namespace.as_str()) {
        return visit.not_done(&page, format!("Nothing was forgotten: type {} to be sure.", visit.namespace));
    }
    let forgotten = visit.memory.forget_namespace(&visit.namespace).await;
    visit.record("forget", true, Vec::new(), if forgotten.is_ok() { "ok" } else { "failed" }).await;
    forgotten?;
    visit.done(&page, format!("All texts of {} are forgotten.", visit.namespace))
}

/// The archive as it is read from the database; it is not held in memory.
pub(crate) async fn export(visit: Visit) -> Answer {
    visit.record("export", false, Vec::new(), "ok").await;
    let (mut write, read) = tokio::io::duplex(PIPE_BYTES);
    let (archive, namespace) = (visit.memory.archive(), visit.namespace.clone());
    let writing =
        tokio::spawn(async move { archive.export(&namespace, true, &mut write, &unreported).await });
    let lines = ReaderStream::new(read).chain(futures::stream::once(async move {
        // An archive that broke off must not look whole.
        match writing.await {
            Ok(Ok(_)) => Ok(Bytes::new()),
            Ok(Err(error)) => Err(std::io::Error::other(error.to_string())),
            Err(error) => Err(std::io::Error::other(error)),
        }
    }));
    let mut response = Body::from_stream(lines).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/jsonl; charset=utf-8"));
    let name = format!("attachment; filename=\"{}.jsonl\"", visit.namespace);
    if let Ok(name) = HeaderValue::from_str(&name) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

fn said(imported: &ArchiveImported) -> String {
    format!(
        "{} and {} added; {} were here before.",
        show::counted(imported.artifacts.created as i64, "text"),
        show::counted(imported.entities.created as i64, "graph entity"),
        show::counted(imported.artifacts.known as i64, "text"),
    )
}

/// An archive, as the body of the request: all of it comes in, or nothing.
pub(crate) async fn import(visit: Visit, body: Bytes) -> Answer {
    visit.needs_writer()?;
    let mut lines = BufReader::new(body.as_ref());
    let archive = visit.memory.archive();
    let imported = archive.import(&visit.namespace, &mut lines, body.len() as u64, &unreported).await;
    visit.record("import", true, Vec::new(), if imported.is_ok() { "ok" } else { "refused" }).await;
    match imported {
        Ok(imported) => Ok(axum::Json(serde_json::json!({ "said": said(&imported) })).into_response()),
        Err(EngineError::Invalid(invalid)) => Err(invalid.into()),
        Err(error) => Err(error.into()),
    }
}
