//! The queue: what waits, what is being done, what failed and why; trying again and cancelling.

use maud::{Markup, html};
use memory_core::id::JobId;
use memory_core::job::{ErrorCode, JobKind, JobState};
use memory_engine::operations::{Cancelled, JobFilter, JobGroup, JobRow, Retried, WorkerNow};
use memory_language::text::{cut, span_of_time};

use crate::fields::Fields;
use crate::layout::csrf;
use crate::show;
use crate::visit::{Answer, Visit};

const PAGE: i64 = 50;

fn kind_name(kind: &str) -> &str {
    match JobKind::parse(kind) {
        Some(JobKind::Extract) => "read a text",
        Some(JobKind::ExtractConversation) => "read a conversation",
        Some(JobKind::Embed) => "make vectors",
        Some(JobKind::IndexGraph) => "index a graph",
        None => kind,
    }
}

fn filter(visit: &Visit, fields: &Fields) -> JobFilter {
    JobFilter {
        namespace: Some(visit.namespace.clone()),
        state: fields.get("state").and_then(JobState::parse),
        kind: fields.get("kind").and_then(JobKind::parse),
        code: fields.get("code").and_then(ErrorCode::parse),
        before: fields.number("before").map(JobId),
        ..JobFilter::default()
    }
}

fn groups(visit: &Visit, groups: &[JobGroup]) -> Markup {
    html! {
        @if groups.is_empty() {
            p.verdict.good { span.dot {} "Nothing waits, nothing has failed" }
        } @else {
            dl.figures {
                @for group in groups {
                    div.figure.(if group.state == "FAILED" { "bad" } else { "plain" }) {
                        dt { (kind_name(&group.kind)) ", " (group.state.to_lowercase()) }
                        dd {
                            a href=(format!("{}?state={}&kind={}", visit.at("jobs"), group.state, group.kind)) { (show::number(group.count)) }
                            span.muted.small { "oldest " (span_of_time(group.oldest_seconds as i64)) }
                        }
                    }
                }
            }
        }
    }
}

/// Who works, and at what.
fn workers(visit: &Visit, workers: &[WorkerNow]) -> Markup {
    html! {
        section.panel aria-labelledby="workers" {
            h2 #workers { "Workers" }
            @if workers.is_empty() { p.muted { "No worker was seen within the hour: jobs wait until one runs." } }
            ul.parts {
                @for now in workers {
                    li {
                        span.dot.(if now.is_silent { "bad" } else { "good" }) {}
                        div {
                            @if now.is_silent {
                                strong { "Silent" } span.muted { " · last seen " (span_of_time(now.worker.seen_seconds as i64)) " ago" }
                            } @else if now.jobs.is_empty() {
                                strong { "Waits for work" } span.muted { " · up for " (span_of_time(now.worker.runs_seconds as i64)) }
                            } @else {
                                strong { "Works" } span.muted { " · up for " (span_of_time(now.worker.runs_seconds as i64)) }
                            }
                            @for job in &now.jobs {
                                p {
                                    (kind_name(&job.kind)) " " (target(visit, job))
                                    @if let Some((made, all)) = job.made { span.muted { ", " (show::number(made)) " of " (show::counted(all, "passage")) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn target(visit: &Visit, job: &JobRow) -> Markup {
    html! {
        @match (&job.artifact_id, &job.conversation_id, &job.thread) {
            (Some(id), _, _) => { a href=(visit.at(&format!("memory/{id}"))) { code { (id) } } },
            (None, Some(conversation), _) => { (show::own(&cut(conversation, 40))) },
            (None, None, Some(thread)) => { "graph " (show::own(&cut(thread, 40))) },
            _ => span.muted { "–" },
        }
        @if let Some(chars) = job.char_count { " " span.muted { (show::number(i64::from(chars))) " characters" } }
    }
}

/// What went wrong, in words.
fn why(job: &JobRow) -> Markup {
    let code = job.last_error_code.as_deref().and_then(ErrorCode::parse);
    html! {
        @if let Some(code) = code {
            p.why-failed { (code.meaning()) }
            p.muted { (code.advice()) }
            @if let Some(message) = job.last_error_message.as_deref().filter(|m| *m != code.meaning()) { p.muted { (show::own(&cut(message, 200))) } }
        }
    }
}

fn button(visit: &Visit, action: &str, id: i64, label: &str) -> Markup {
    html! {
        form method="post" action=(visit.at("jobs")) {
            (csrf(visit))
            input type="hidden" name="back" value=(visit.here);
            input type="hidden" name="id" value=(id);
            button.small type="submit" name="action" value=(action) aria-label=(format!("{label} job {id}")) { (label) }
        }
    }
}

fn row(visit: &Visit, job: &JobRow) -> Markup {
    let is_open = matches!(job.state.as_str(), "PENDING" | "PROCESSING");
    let id = job.job_id.0;
    html! {
        tr {
            th.num scope="row" { (id) }
            td { (show::job_state(&job.state)) }
            td { (kind_name(&job.kind)) }
            td { (target(visit, job)) (why(job)) }
            td.num { (job.attempts) }
            td.nowrap { (show::ago(job.created_at)) }
            @if visit.visitor.may_write() {
                td.row-actions {
                    @if job.state == "FAILED" { (button(visit, "retry", id, "Retry")) }
                    @if is_open { (button(visit, "cancel", id, "Cancel")) }
                }
            }
        }
    }
}

fn table(visit: &Visit, jobs: &[JobRow]) -> Markup {
    html! {
        div.table-wrap tabindex="0" role="region" aria-label="Jobs" {
            table.jobs {
                thead {
                    tr {
                        th.num scope="col" { "Job" } th scope="col" { "State" } th scope="col" { "What" } th scope="col" { "Of" }
                        th.num scope="col" { "Attempts" } th scope="col" { "Made" }
                        @if visit.visitor.may_write() { th scope="col" { span.sr { "Actions" } } }
                    }
                }
                tbody #rows { @for job in jobs { (row(visit, job)) } }
            }
        }
    }
}

pub(crate) async fn page(visit: Visit, fields: Fields) -> Answer {
    let operations = visit.memory.operations();
    let filter = filter(&visit, &fields);
    let (summary, mut jobs, at_work) = futures::try_join!(
        operations.job_groups(&visit.namespace),
        operations.list_jobs(&filter, PAGE + 1),
        operations.workers(&visit.namespace),
    )?;
    let goes_on = jobs.len() as i64 > PAGE;
    jobs.truncate(PAGE as usize);
    let has_failed = summary.iter().any(|group| group.state == "FAILED");
    let states: Vec<(&str, &str)> = std::iter::once(("", "any state"))
        .chain([("PENDING", "waiting"), ("PROCESSING", "being done"), ("FAILED", "failed"), ("DONE", "done")])
        .collect();
    let kinds: Vec<(&str, &str)> = std::iter::once(("", "any kind"))
        .chain(JobKind::ALL.iter().map(|kind| (kind.as_str(), kind_name(kind.as_str()))))
        .collect();
    let body = html! {
        div.page-head {
            h1 { "Jobs" }
            @if has_failed && visit.visitor.may_write() {
                form.actions method="post" action=(visit.at("jobs")) {
                    (csrf(&visit))
                    input type="hidden" name="back" value=(visit.here);
                    button.primary type="submit" name="action" value="retry-all" { "Retry all that failed" }
                }
            }
        }
        (groups(&visit, &summary))
        (workers(&visit, &at_work))
        form.filters-bar method="get" action=(visit.at("jobs")) {
            label { span.sr { "State" } select name="state" { (show::options(&states, fields.get("state"))) } }
            label { span.sr { "Kind" } select name="kind" { (show::options(&kinds, fields.get("kind"))) } }
            button type="submit" { "Show" }
        }
        @if jobs.is_empty() {
            (show::empty("No jobs like that", &html! { p { "Texts are read and get their vectors by jobs." } }))
        } @else {
            (table(&visit, &jobs))
        }
        (show::more(jobs.last().filter(|_| goes_on).map(|last| format!("{}?{}", visit.at("jobs"), fields.query_with(&[("before", &last.job_id.0.to_string())]))), "rows"))
    };
    visit.page("Jobs", &body)
}

pub(crate) async fn act(visit: Visit) -> Answer {
    visit.needs_writer()?;
    let back = visit.back("jobs");
    let operations = visit.memory.operations();
    let ns = Some(&visit.namespace);
    let action = visit.form.get("action").unwrap_or_default();
    if action == "retry-all" {
        let filter = JobFilter { namespace: Some(visit.namespace.clone()), ..JobFilter::default() };
        let retried = operations.retry_failed_jobs(&filter).await?;
        visit.record("jobs retry", true, Vec::new(), "ok").await;
        return visit.done(&back, format!("Tried again: {}.", show::counted(retried as i64, "job")));
    }
    let Some(id) = visit.form.number::<i64>("id") else {
        return visit.not_done(&back, "Which job is meant is not said.");
    };
    let (is_done, said) = match action {
        "retry" => match operations.retry_job(ns, JobId(id)).await? {
            Retried::Queued => (true, format!("Job {id} waits to be tried again.")),
            Retried::Covered => {
                (false, format!("Another job for the same as job {id} waits or is being done."))
            }
            Retried::NotFailed(state) => {
                (false, format!("Job {id} has not failed; it is {}.", state.to_lowercase()))
            }
            Retried::NotFound => (false, format!("There is no job {id} here.")),
        },
        "cancel" => match operations.cancel_job(ns, JobId(id)).await? {
            Cancelled::Waiting | Cancelled::Failed => (true, format!("Job {id} was cancelled.")),
            Cancelled::Running => {
                (true, format!("Job {id} was cancelled; its worker stops soon and writes nothing."))
            }
            Cancelled::Ended(state) => {
                (false, format!("Job {id} had ended before: {}.", state.to_lowercase()))
            }
            Cancelled::NotFound => (false, format!("There is no job {id} here.")),
        },
        other => return visit.not_done(&back, format!("Nothing is done by {other:?}.")),
    };
    let outcome = if is_done { "ok" } else { "refused" };
    visit.record(&format!("jobs {action}"), true, vec![id.to_string()], outcome).await;
    if is_done { visit.done(&back, said) } else { visit.not_done(&back, said) }
}
