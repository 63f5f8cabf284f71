//! What is wrong, since when, and what to do about it.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use memory_core::job::{CODES_LEFT_ALONE, ErrorCode, JobKind};
use memory_language::text::{counted, span_of_time};
use memory_store::embedded::free_bytes;
use memory_store::stats::{StuckJobs, Vectors};
use memory_store::webhooks::{DEAD_MAX, DeadLetters};

use super::{Service, Status};

/// Failed jobs of these codes are no problem: no action is needed.
pub(super) const CODES_SEEN_TO: &[ErrorCode] = &CODES_LEFT_ALONE;
/// Jobs that wait for these wait for a person.
pub(super) const CODES_WAITED_FOR: &[ErrorCode] =
    &[ErrorCode::DiskFull, ErrorCode::LlmAuth, ErrorCode::LlmUnavailable];

/// With less room than this Postgres soon has none for its log.
const FREE_BYTES_MIN: u64 = 64 * 1024 * 1024;
/// For how long a disk counts as full after the database has said so.
const FULL_DISK_REMEMBERED: Duration = Duration::from_mins(2);
/// A job that waits for longer is reported.
const OLD_JOB_SECONDS: f64 = 4.0 * 3600.0;
/// By how much clocks of two machines may differ, in seconds.
const CLOCK_TOLERANCE_SECONDS: f64 = 60.0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub what: String,
    /// When it began, where that is known.
    pub since: Option<Timestamp>,
    /// What to do.
    pub advice: String,
}

pub(super) fn of_services(services: &[Service]) -> Vec<Problem> {
    let is_cut_off = services.iter().any(|service| service.name == "postgres" && !service.is_healthy);
    let problem = |service: &Service| {
        let advice = match service.name {
            "postgres" => "See that the database runs and can be reached; it is tried on.",
            // They say nothing as long as the database does not answer.
            "vector_index" | "event_worker" if is_cut_off => return None,
            "embedding_model" => {
                "If this stays so run `remembrancer setup`, or name the model's folder with --model-dir."
            }
            "extractor" => "See that the language model's server runs and that its settings are right.",
            "event_worker" => {
                "Start `event-worker`; without it no text is read and long ones get no vectors."
            }
            "graph_file" => "Mend the file or make room for it; the graph is in the database meanwhile.",
            "vector_mirror" => "See that Qdrant runs; Postgres searches meanwhile.",
            _ => "See the server's log.",
        };
        let what = format!("{} is down: {}", service.name, service.detail);
        Some(Problem { what, since: None, advice: advice.to_owned() })
    };
    services.iter().filter(|service| !service.is_healthy).filter_map(problem).collect()
}

pub(super) fn of_jobs(stuck: &[StuckJobs]) -> Vec<Problem> {
    let problem = |jobs: &StuckJobs| {
        let code = ErrorCode::parse(&jobs.code);
        let reason = jobs.message.as_deref().or(code.map(ErrorCode::meaning)).unwrap_or("no reason was kept");
        let jobs_of_kind = counted(jobs.count, &format!("{} job", jobs.kind));
        let state = match (jobs.have_failed, jobs.count) {
            (true, 1) => "has failed",
            (true, _) => "have failed",
            (false, 1) => "waits",
            (false, _) => "wait",
        };
        let mut advice = code.map_or("See the worker's log.", ErrorCode::advice).to_owned();
        if jobs.have_failed {
            let retry = match jobs.count {
                1 => format!("`remembrancer jobs retry {}`", jobs.first),
                _ => format!("`remembrancer jobs retry --failed --code {} --kind {}`", jobs.code, jobs.kind),
            };
            advice = format!(
                "{advice} Try again: {retry}; leave undone: `remembrancer jobs cancel {}`.",
                jobs.first
            );
        }
        let missing = match JobKind::parse(&jobs.kind) {
            Some(JobKind::Extract | JobKind::ExtractConversation) => "events are missing",
            _ => "vectors are missing",
        };
        let what = format!("{jobs_of_kind} {state} with {}: {reason}; {missing}", jobs.code);
        Problem { what, since: Some(jobs.since), advice }
    };
    stuck.iter().map(problem).collect()
}

/// A job that waits though a worker runs: it, or what it works with, does not keep up.
pub(super) fn of_queue(status: &Status, is_worked_on: bool) -> Option<Problem> {
    let queue = status.queue.as_ref().filter(|_| is_worked_on)?;
    let seconds = queue.oldest_pending_seconds.filter(|seconds| *seconds > OLD_JOB_SECONDS)?;
    let (jobs, oldest) = (counted(queue.pending, "job"), span_of_time(seconds as i64));
    Some(Problem {
        what: format!("The oldest of {jobs} that wait is there for {oldest}"),
        since: Timestamp::from_second(Timestamp::now().as_second() - seconds as i64).ok(),
        advice: "After a large import this may take its time. Else see `remembrancer jobs list --state pending` and the worker's \
                 log; more workers, or a higher --concurrency, do more at a time."
            .to_owned(),
    })
}

/// Vectors that nothing will make: no job is open for any, and none has failed, which is reported by itself.
pub(super) fn of_vectors(status: &Status) -> Option<Problem> {
    let (Vectors { missing, failed_texts, .. }, queue) = status.vectors.zip(status.queue.as_ref())?;
    (missing > 0 && failed_texts == 0 && queue.open_embeddings == 0).then(|| Problem {
        what: format!("{} without a vector, and no job will make one", counted(missing, "passage")),
        since: None,
        advice: "Run `remembrancer reembed`: it makes what is missing.".to_owned(),
    })
}

pub(super) fn of_dead_letters(dead: &DeadLetters) -> Problem {
    let more = if dead.count >= DEAD_MAX { " or more" } else { "" };
    let (messages, id) = (counted(dead.count, "message"), &dead.webhook_id);
    let why = dead.error.as_deref().map_or_else(String::new, |error| format!("; the last: {error}"));
    Problem {
        what: format!("{messages}{more} could not be sent to the webhook {id} and were given up{why}"),
        since: Some(dead.since),
        advice: format!(
            "See `remembrancer webhooks deliveries --state dead`. When the receiver is mended, `remembrancer webhooks resend {id}`; \
             where it is gone, `remembrancer webhooks remove {id}`. They are deleted after two weeks."
        ),
    }
}

/// Given the data folder, where it is on this machine, and when the database last said that its disk is full.
pub(super) fn of_disk(folder: Option<&Path>, full_at: Option<Instant>) -> Option<Problem> {
    let ago = full_at.map(|at| at.elapsed()).filter(|ago| *ago < FULL_DISK_REMEMBERED);
    let since = ago.and_then(|ago| Timestamp::try_from(SystemTime::now() - ago).ok());
    let free = folder.and_then(free_bytes).filter(|free| *free < FREE_BYTES_MIN);
    let what = match (free, ago) {
        (Some(free), _) => {
            format!("The disk of the data folder is full: {} MB are free", free / (1024 * 1024))
        }
        (None, Some(_)) => "The database said that its disk is full".to_owned(),
        (None, None) => return None,
    };
    let advice =
        "Free some space; jobs wait and go on by themselves, and nothing new can be kept until then.";
    Some(Problem { what, since, advice: advice.to_owned() })
}

pub(super) fn of_clock(ahead_seconds: f64) -> Option<Problem> {
    (ahead_seconds > CLOCK_TOLERANCE_SECONDS).then(|| Problem {
        what: format!(
            "The database's clock was set back: what it wrote is dated up to {} in the future",
            span_of_time(ahead_seconds as i64)
        ),
        since: None,
        advice: "See that its clock is right. Jobs do not wait for that time; a worker makes them due."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use memory_store::stats::Queue;

    use super::*;

    fn stuck(count: i64, have_failed: bool, code: &str) -> StuckJobs {
        StuckJobs {
            kind: "embed".to_owned(),
            code: code.to_owned(),
            have_failed,
            count,
            first: memory_core::id::JobId(7),
            since: Timestamp::UNIX_EPOCH,
            message: Some("it was slow".to_owned()),
        }
    }

    #[test]
    fn a_problem_says_what_is_wrong_and_what_to_do() {
        let problems =
            of_jobs(&[stuck(1, true, "TIMED_OUT"), stuck(3, true, "INTERNAL"), stuck(2, false, "DISK_FULL")]);
        assert_eq!(
            problems[0].what,
            "1 embed job has failed with TIMED_OUT: it was slow; vectors are missing"
        );
        assert!(problems[0].advice.contains("`remembrancer jobs retry job_7`"), "{problems:?}");
        assert!(
            problems[1].advice.contains("`remembrancer jobs retry --failed --code INTERNAL --kind embed`"),
            "{problems:?}"
        );
        assert!(problems[2].what.starts_with("2 embed jobs wait with DISK_FULL"), "{problems:?}");
        assert!(!problems[2].advice.contains("retry"), "{problems:?}");
    }

    #[test]
    fn messages_that_were_given_up_are_a_problem_with_what_to_do() {
        let dead = DeadLetters {
            namespace: "work".to_owned(),
            webhook_id: "hook_1f2e3d4c5b6a".to_owned(),
            count: 3,
            since: Timestamp::UNIX_EPOCH,
            error: Some("HTTP 500".to_owned()),
        };
        let problem = of_dead_letters(&dead);
        assert!(
            problem.what.starts_with("3 messages could not be sent to the webhook hook_1f2e3d4c5b6a"),
            "{problem:?}"
        );
        assert!(problem.what.ends_with("the last: HTTP 500"), "{problem:?}");
        assert!(problem.advice.contains("`remembrancer webhooks resend hook_1f2e3d4c5b6a`"), "{problem:?}");
        let many = of_dead_letters(&DeadLetters { count: DEAD_MAX, error: None, ..dead });
        assert!(
            many.what.starts_with("1,000 messages or more") || many.what.starts_with("1000 messages or more"),
            "{many:?}"
        );
    }

    #[test]
    fn a_job_that_waits_for_hours_though_a_worker_runs_is_a_problem() {
        let waiting = |seconds| {
            let queue = Queue { pending: 3, oldest_pending_seconds: Some(seconds), ..Queue::default() };
            Status { queue: Some(queue), ..Status::default() }
        };
        assert_eq!(of_queue(&waiting(600.0), true), None);
        assert_eq!(of_queue(&waiting(20_000.0), false), None, "that no worker runs is reported by itself");
        let problems = of_queue(&waiting(20_000.0), true).unwrap();
        assert!(
            problems.what.contains("3 jobs") && problems.what.contains("5 h") && problems.since.is_some(),
            "{problems:?}"
        );
    }

    #[test]
    fn a_clock_that_is_off_by_little_is_no_problem() {
        assert_eq!(of_clock(30.0), None);
        assert!(of_clock(2_592_000.0).is_some_and(|problem| problem.what.contains("30 d in the future")));
    }

    #[test]
    fn a_disk_without_room_is_a_problem_and_one_that_was_full_for_a_while() {
        assert_eq!(of_disk(None, None), None);
        assert!(of_disk(None, Some(Instant::now())).is_some_and(|problem| problem.since.is_some()));
        // Whatever that disk has, a folder that is not there says nothing.
        assert!(free_bytes(std::path::Path::new("/")).is_some());
        assert_eq!(free_bytes(std::path::Path::new("/no/such/folder")), None);
    }
}
