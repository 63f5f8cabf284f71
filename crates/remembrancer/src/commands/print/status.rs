//! Whether the memory is healthy, what it has to do, and how far one text is.

use std::fmt::Write;

use jiff::Timestamp;
use memory_language::text::{counted, span_of_time};
use serde_json::Value;

use super::{Style, chunks_of, list, printable, text};

/// When something began, and how long ago that is.
fn since(began: &str) -> String {
    let ago = began.parse::<Timestamp>().map(|at| Timestamp::now().duration_since(at).as_secs());
    match ago {
        Ok(seconds) if seconds >= 0 => format!(" (since {began}, {} ago)", span_of_time(seconds)),
        _ => format!(" (since {began})"),
    }
}

pub(crate) fn status(answer: &Value, style: &Style) -> String {
    let state = if answer["healthy"] == true { "healthy" } else { "NOT HEALTHY" };
    let mut out = format!("{}\n", style.bold(&format!("Remembrancer {}: {state}", text(answer, "version"))));
    for problem in list(answer, "problems") {
        let since = problem["since"].as_str().map(since).unwrap_or_default();
        let _ = writeln!(out, "  ! {}{since}", printable(text(problem, "what")));
        let _ = writeln!(out, "    → {}", printable(text(problem, "advice")));
    }
    for (name, service) in answer["services"].as_object().into_iter().flatten() {
        let _ = writeln!(
            out,
            "  {name:<16} {:<5} {}",
            text(service, "status"),
            printable(text(service, "detail"))
        );
    }
    let of = |key: &str, noun: &str| counted(answer["counts"][key].as_i64().unwrap_or(0), noun);
    let _ = writeln!(
        out,
        "  {}, {}{}, {}",
        of("artifacts", "artifact"),
        chunks_of(&answer["counts"]),
        of("events", "event"),
        of("entities", "entity")
    );
    push_jobs(&mut out, &answer["jobs"]);
    if answer["job_status"].is_object() {
        push_text(&mut out, &answer["job_status"]);
    }
    out
}

/// The queue: how much of what, and how long the oldest waits.
fn push_jobs(out: &mut String, jobs: &Value) {
    if !jobs.is_object() {
        return;
    }
    let _ = write!(
        out,
        "  jobs: {} pending, {} processing, {} done, {} failed",
        jobs["pending"], jobs["processing"], jobs["done"], jobs["failed"]
    );
    if let Some(seconds) = jobs["oldest_pending_seconds"].as_f64() {
        let _ = write!(out, "; the oldest has waited for {}", span_of_time(seconds as i64));
    }
    out.push('\n');
    for (code, count) in jobs["failures"].as_object().into_iter().flatten() {
        let _ = writeln!(out, "    {count} × {code}");
    }
}

/// How far one text is: its events, then its vectors.
fn push_text(out: &mut String, job: &Value) {
    let number = |key: &str| job[key].as_i64();
    let fault = |job: &Value| {
        let code = job["last_error_code"].as_str().map(|code| format!(", {code}")).unwrap_or_default();
        let message = job["last_error_message"].as_str();
        code + &message.map(|message| format!(": {}", printable(message))).unwrap_or_default()
    };
    let _ = write!(out, "  {}: {}", text(job, "artifact_id"), text(job, "status"));
    if let Some(events) = number("event_count") {
        let _ = write!(out, ", {}", counted(events, "event"));
    }
    if job["events_cut"] == true {
        out.push_str(" (the most that one text may have; there may be more in it)");
    }
    let _ = writeln!(out, "{}", fault(job));
    let passages = counted(number("passages").unwrap_or(0), "passage");
    match number("passages_without_vector") {
        _ if text(job, "status") == "NOT_FOUND" => return,
        Some(missing) if missing > 0 => {
            let _ = write!(out, "    vectors: {missing} of {passages} without one, found by words alone");
        }
        _ => {
            let _ = write!(out, "    vectors: all, of {passages}");
        }
    }
    let embed = &job["embed_job"];
    if embed.is_object() {
        let _ = write!(out, "; {} (embed) {}{}", text(embed, "id"), text(embed, "status"), fault(embed));
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn status_says_what_is_wrong_since_when_and_what_to_do_and_how_long_the_oldest_waits() {
        let answer = json!({
            "version": "1", "healthy": false,
            "problems": [{"what": "1 embed job has failed", "since": "2026-01-01T00:00:00Z", "advice": "Retry it."}],
            "services": {}, "counts": {"artifacts": 1, "chunks": 0, "events": 2, "entities": 1},
            "jobs": {"pending": 3, "processing": 0, "done": 4, "failed": 1, "oldest_pending_seconds": 7300.0,
                "failures": {"TIMED_OUT": 1}},
            "job_status": {"artifact_id": "art_1", "status": "DONE", "event_count": 2000, "events_cut": true,
                "passages": 5000, "passages_without_vector": 446,
                "embed_job": {"id": "job_7", "status": "FAILED", "last_error_code": "TIMED_OUT", "last_error_message": "slow"}},
        });
        let shown = status(&answer, &Style { is_coloured: false });
        for part in [
            "Remembrancer 1: NOT HEALTHY\n  ! 1 embed job has failed (since 2026-01-01T00:00:00Z, ",
            " ago)\n    → Retry it.\n",
            "  1 artifact, 2 events, 1 entity\n",
            "1 failed; the oldest has waited for 2 h\n",
            "art_1: DONE, 2000 events (the most that one text may have; there may be more in it)\n",
            "vectors: 446 of 5000 passages without one, found by words alone; job_7 (embed) FAILED, TIMED_OUT: slow\n",
        ] {
            assert!(shown.contains(part), "{part} is not in\n{shown}");
        }
    }
    #[test]
    fn chunks_are_counted_where_there_are_any() {
        let counts = json!({"artifacts": 1, "chunks": 3, "events": 0, "entities": 0});
        let shown = status(&json!({"counts": counts}), &Style { is_coloured: false });
        assert!(shown.contains("  1 artifact, 3 chunks, 0 events, 0 entities\n"), "{shown}");
    }
}
