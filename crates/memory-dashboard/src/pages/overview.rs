//! How the memory is: its parts, what it holds, its queue, how it grew. What changes is sent on while the page is open.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use maud::{Markup, html};
use memory_core::job::ErrorCode;
use memory_engine::status::Status;
use memory_language::text::span_of_time;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::failure::Failure;
use crate::fields::Fields;
use crate::show;
use crate::visit::{Answer, Visit};

/// How often the state is sent to a page that is open, and for how long; the browser comes again.
const INTERVAL: Duration = Duration::from_secs(5);
const SENT_MAX: usize = 120;
/// How many pages are kept up to date at the same time.
static FOLLOWED: Semaphore = Semaphore::const_new(32);

fn part_name(name: &str) -> &str {
    match name {
        "postgres" => "Database",
        "vector_index" => "Vector index",
        "embedding_model" => "Embedding model",
        "extractor" => "Extractor",
        "event_worker" => "Event worker",
        "vector_mirror" => "Mirror in Qdrant",
        other => other,
    }
}

fn figure(name: &str, value: i64, to: Option<String>) -> Markup {
    html! {
        div.figure {
            dt { (name) }
            dd { @if let Some(to) = to { a href=(to) { (show::number(value)) } } @else { (show::number(value)) } }
        }
    }
}

/// All that changes while the page is open.
fn state(visit: &Visit, status: &Status) -> Markup {
    html! {
        @if status.problems.is_empty() {
            p.verdict.good { span.dot {} "Everything works" }
        } @else {
            p.verdict.bad { span.dot {} (show::counted(status.problems.len() as i64, "problem")) }
            ul.problems {
                @for problem in &status.problems {
                    li {
                        strong { (problem.what) }
                        @if let Some(since) = problem.since { " " span.muted { "since " (show::time(since)) } }
                        p.muted { (problem.advice) }
                    }
                }
            }
        }
        @if let Some(counts) = &status.counts {
            dl.figures {
                (figure("Texts", counts.artifacts, Some(visit.at("browse"))))
                (figure("Events", counts.events, Some(visit.at("timeline"))))
                (figure("Entities", counts.entities, Some(visit.at("entities"))))
                (figure("Graph entities", counts.graph_entities, Some(visit.at("graph"))))
                (figure("Relations", counts.graph_relations, None))
                (figure("Facts", counts.graph_observations, None))
            }
        }
        div.columns {
            section.panel aria-labelledby="parts" {
                h2 #parts { "Parts" }
                ul.parts {
                    @for service in &status.services {
                        li {
                            span.dot.(if service.is_healthy { "good" } else { "bad" }) {}
                            div {
                                strong { (part_name(service.name)) }
                                span.sr { (if service.is_healthy { " works" } else { " is down" }) }
                                @if let Some(latency) = service.latency_ms { " " span.muted { (format!("{latency:.1} ms")) } }
                                // Details name hosts and paths: they are for who runs the installation.
                                @if visit.visitor.is_admin() || service.is_healthy { p.muted { (service.detail) } }
                            }
                        }
                    }
                }
            }
            section.panel aria-labelledby="queue" {
                h2 #queue { "Queue" }
                (queue(visit, status))
            }
        }
    }
}

fn queue(visit: &Visit, status: &Status) -> Markup {
    let Some(queue) = &status.queue else {
        return html! { p.muted { "It is in the database, which cannot be asked." } };
    };
    let jobs = |state: &str| format!("{}?state={state}", visit.at("jobs"));
    html! {
        dl.rows {
            dt { "Waiting" } dd { a href=(jobs("PENDING")) { (show::number(queue.pending)) } }
            dt { "Being done" } dd { a href=(jobs("PROCESSING")) { (show::number(queue.processing)) } }
            dt { "Failed" } dd { a href=(jobs("FAILED")) { (show::number(queue.failed)) } }
            dt { "Done" } dd { (show::number(queue.done)) }
            dt { "Oldest that waits" }
            dd { (queue.oldest_pending_seconds.map_or_else(|| "none".to_owned(), |age| span_of_time(age as i64))) }
            @if let Some(vectors) = &status.vectors {
                dt { "Passages without a vector" }
                dd { (show::number(vectors.missing)) span.muted { " of " (show::number(vectors.passages)) } }
            }
            dt { "Last backup" }
            dd { @match visit.memory.last_backup() { Some(at) => (show::ago(at)), None => span.muted { "none is made by this process" } } }
            @if let Some(mirror) = &status.mirror {
                dt { "Behind in the mirror" }
                dd {
                    (show::number(mirror.lag.waiting))
                    @if let Some(age) = mirror.lag.oldest_seconds { span.muted { ", the oldest for " (span_of_time(age as i64)) } }
                }
            }
        }
        @if !queue.failures.is_empty() {
            ul.failures {
                @for (code, count) in &queue.failures {
                    li {
                        a href=(format!("{}?state=FAILED&code={code}", visit.at("jobs"))) { (show::number(*count)) }
                        " " (ErrorCode::parse(code).map_or(code.as_str(), |code| code.meaning()))
                    }
                }
            }
        }
    }
}

fn first_steps(visit: &Visit) -> Markup {
    show::empty(
        "Nothing is remembered yet",
        &html! {
            ol {
                li { "Connect an agent: the endpoint is " code { "/mcp" } " at this address." }
                @if visit.visitor.may_write() {
                    li { "Or " a href=(visit.at("import")) { "write a note or drop some files" } " here." }
                }
                li { "Then " a href=(visit.at("search")) { "ask a question" } "." }
            }
        },
    )
}

pub(crate) async fn page(visit: Visit) -> Answer {
    let status = visit.memory.status(&visit.namespace, None).await;
    let is_empty = status.counts.as_ref().is_some_and(|c| c.artifacts == 0 && c.graph_entities == 0);
    let body = html! {
        div.page-head { h1 { "Overview" } }
        @if is_empty { (first_steps(&visit)) }
        div #state data-live=(visit.at("overview/live")) { (state(&visit, &status)) }
        section.panel aria-labelledby="growth" {
            h2 #growth { "Growth" span.muted { " · texts and events a day, the last 90 days" } }
            div.chart data-growth=(visit.at("overview/growth")) role="img" aria-label="Texts and events a day over the last 90 days" {
                p.muted { "Texts and events a day, drawn where scripts run." }
            }
        }
    };
    visit.page("Overview", &body)
}

/// Days with texts and events, for the chart.
pub(crate) async fn growth(visit: Visit, fields: Fields) -> Answer {
    let days = fields.number("days").unwrap_or(90);
    let grown = visit.memory.growth(&visit.namespace, days).await?;
    let rows: Vec<_> = grown.iter().map(|day| json!([day.begins, day.texts, day.events])).collect();
    Ok(Json(json!({ "days": rows })).into_response())
}

/// The state again and again, as server-sent events, as long as the session lives.
pub(crate) async fn live(visit: Visit) -> Result<Response, Failure> {
    let Ok(place) = FOLLOWED.try_acquire() else {
        let reason = "Too many pages are kept up to date at the same time.";
        return Err(Failure::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, reason));
    };
    let stop = visit.dashboard.options.stop.clone();
    let events = stream::unfold((visit, place, stop, 0), async |(visit, place, stop, sent)| {
        tokio::select! {
            () = stop.cancelled() => return None,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        if sent >= SENT_MAX || !visit.is_still_open().await {
            return None;
        }
        let status = visit.memory.status(&visit.namespace, None).await;
        let event = Event::default()
            .event("state")
            .data(state(&visit, &status).into_string().replace(['\n', '\r'], " "));
        Some((Ok::<_, Infallible>(event), (visit, place, stop, sent + 1)))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}
