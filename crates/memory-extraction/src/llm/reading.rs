//! Reading one window: asking, stepping down to what the server understands, and mending an answer once.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use memory_core::ports::{ExtractError, SourceText};
use serde_json::{Value, json};

use super::LlmExtractor;
use super::answer::{self, Answer, RawEvent};
use super::breaker::Trouble;
use super::completion::{Heard, heard};
use super::dialect::Dialect;
use super::findings::{borne_out, proofs};
use super::http::CallError;
use super::prompt;
use super::quotes::SegmentRange;
use super::windows::{WINDOWS_MAX, Window};

/// For one source the server is asked no more often.
const CALLS_MAX: usize = WINDOWS_MAX * 4;
/// What the others wait beyond one call's time while a server that failed is tried.
const PROBE_MARGIN: Duration = Duration::from_secs(5);

/// What has become of a window.
pub(super) enum Read {
    Answer(Arc<Answer>),
    /// It was too much at once.
    Halves(Window, Window),
    /// The same; of the first lines there are events, and the others are left to be read.
    Begun(Answer, Window),
}

/// How often the server may still be asked for a source.
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new() -> Self {
        Self(CALLS_MAX)
    }

    fn spend(&mut self) -> Result<(), ExtractError> {
        self.0 = self.0.checked_sub(1).ok_or_else(|| {
            ExtractError::BadOutput(format!(
                "{CALLS_MAX} calls for one text did not give an answer to all of it"
            ))
        })?;
        Ok(())
    }
}

/// An answer that is to be mended, and what is wrong with it.
struct Repair {
    bad: String,
    why: &'static str,
}

impl LlmExtractor {
    pub(super) async fn read_window(
        &self,
        source: &SourceText,
        window: &Window,
        question: &str,
        budget: &mut Budget,
    ) -> Result<Read, ExtractError> {
        if let Some(answer) = self.memo.recall(question) {
            return Ok(Read::Answer(answer));
        }
        let mut dialect = self.remembered.current();
        let mut repair: Option<Repair> = None;
        loop {
            budget.spend()?;
            let bad = match self.ask(dialect, question, repair.as_ref()).await? {
                Heard::TooLong if window.halves().is_some() => return halved(window),
                Heard::Content { text, was_cut: true } if answer::parse(&text).is_err() => {
                    match begun(source, window, answer::parse_cut(&text)) {
                        Some(read) => return Ok(read),
                        None => Repair { bad: text, why: "it is longer than an answer may be" },
                    }
                }
                Heard::Content { text, .. } => match answer::parse(&text) {
                    Ok(answer) => {
                        let is_true = answer.claimed() == 0 || borne_out(source, window, &answer) > 0;
                        // What is still untrue after it was asked to be mended is counted with the rest of the source.
                        if is_true || repair.is_some() {
                            self.remembered.worked(dialect);
                            let answer = Arc::new(answer);
                            self.memo.keep(question.to_owned(), Arc::clone(&answer));
                            return Ok(Read::Answer(answer));
                        }
                        repair = Some(Repair { bad: text, why: "no quote in it is in the text" });
                        continue;
                    }
                    Err(why) => Repair { bad: text, why },
                },
                Heard::Nonsense(why) => Repair { bad: String::new(), why },
                Heard::TooLong => return Err(self.unfit(413)),
                Heard::Rejected { status, parameter } => match dialect.instead(parameter.as_deref()) {
                    Some(other) => {
                        dialect = other;
                        continue;
                    }
                    // It takes other requests: this one must be too long for it.
                    None if self.remembered.is_proven() && window.halves().is_some() => {
                        return halved(window);
                    }
                    None => return Err(self.unfit(status)),
                },
                other => return Err(self.failed(other)),
            };
            match dialect.lower() {
                Some(lower) if repair.is_none() => dialect = lower,
                _ if repair.is_none() => repair = Some(bad),
                _ => return Err(ExtractError::BadOutput(bad.why.to_owned())),
            }
        }
    }

    /// One call. An error is one of the connection; what the server says is left to be judged.
    async fn ask(
        &self,
        dialect: Dialect,
        question: &str,
        repair: Option<&Repair>,
    ) -> Result<Heard, ExtractError> {
        self.breaker.admit(Instant::now(), self.client.timeout + PROBE_MARGIN)?;
        let mut messages: Vec<Value> = vec![
            json!({"role": "system", "content": prompt::instructions()}),
            json!({"role": "user", "content": question}),
        ];
        if let Some(repair) = repair {
            messages.extend(prompt::repair(&repair.bad, repair.why));
        }
        self.tally.calls.fetch_add(1, Ordering::Relaxed);
        let reply = match self.client.post(dialect.request(&self.model, &messages)).await {
            Ok(reply) => reply,
            Err(CallError::TooLarge) => {
                self.breaker.answered(Instant::now());
                return Ok(Heard::Nonsense("the server's reply is larger than any answer"));
            }
            Err(CallError::Timeout) => return Ok(Heard::TookTooLong),
            Err(CallError::Broken(reason)) => {
                self.breaker.failed(Instant::now(), Trouble::Failing(reason.clone()));
                return Err(ExtractError::ServerFailed(self.about(&reason)));
            }
            Err(CallError::Unreachable(reason)) => {
                return Err(self.away(Trouble::Away { reason: self.about(&reason), retry_after: None }));
            }
        };
        let heard = heard(&reply);
        if matches!(heard, Heard::Content { .. } | Heard::Refused(_) | Heard::TooLong | Heard::Nonsense(_)) {
            self.breaker.answered(Instant::now());
        }
        Ok(heard)
    }

    /// What it means when the server gave no content.
    fn failed(&self, heard: Heard) -> ExtractError {
        match heard {
            Heard::Refused(why) => ExtractError::Refused(why.to_owned()),
            Heard::RateLimited(retry_after) => self.away(Trouble::RateLimited { retry_after }),
            Heard::Unauthorized(status) => self.away(Trouble::Unauthorized(
                self.about(&format!("it refuses the key ({status}): check REMEMBRANCER_LLM_KEY")),
            )),
            Heard::Away { reason, retry_after } => {
                self.away(Trouble::Away { reason: self.about(&reason), retry_after })
            }
            Heard::TookTooLong => {
                let timeout = self.client.timeout;
                let reason = format!("it does not answer within {} s", timeout.as_secs());
                self.breaker.failed(Instant::now(), Trouble::Failing(reason));
                ExtractError::Timeout(timeout)
            }
            Heard::Failed(status) => {
                let reason = format!("it answers with the status {status}");
                self.breaker.failed(Instant::now(), Trouble::Failing(reason.clone()));
                ExtractError::ServerFailed(self.about(&reason))
            }
            Heard::Content { .. } | Heard::Rejected { .. } | Heard::TooLong | Heard::Nonsense(_) => {
                ExtractError::Failed("the reply was judged twice".to_owned())
            }
        }
    }

    /// The server takes this request in no form. One that never took any is set up wrongly; else it is the text's fault.
    fn unfit(&self, status: u16) -> ExtractError {
        let reason = self.about(&format!("it takes no form of the request ({status})"));
        if self.remembered.is_proven() {
            return ExtractError::ServerFailed(reason);
        }
        let reason = format!(
            "{reason}: check REMEMBRANCER_LLM_MODEL, and that it is a chat model of some thousand tokens"
        );
        self.away(Trouble::Away { reason, retry_after: None })
    }

    fn away(&self, trouble: Trouble) -> ExtractError {
        let retry_after = self.breaker.failed(Instant::now(), trouble.clone());
        match trouble {
            Trouble::RateLimited { .. } => ExtractError::RateLimited { retry_after },
            Trouble::Unauthorized(reason) => ExtractError::Unauthorized { reason, retry_after },
            Trouble::Away { reason, .. } | Trouble::Failing(reason) => {
                ExtractError::Unavailable { reason, retry_after }
            }
        }
    }

    fn about(&self, what: &str) -> String {
        format!("the language model's server at {}: {what}", self.client.endpoint.shown())
    }
}

/// What an answer is worth that its limit has cut: its complete events, if they are true. Reading goes on at the sentence of
/// the last of them, of which there may be more to say.
fn begun(source: &SourceText, window: &Window, mut answer: Answer) -> Option<Read> {
    let place = |event: &RawEvent| proofs(source, window, event).iter().map(SegmentRange::place).max();
    answer.events.retain(|event| place(event).is_some());
    let Some(last) = answer.events.iter().filter_map(place).max() else { return halved(window).ok() };
    match window.rest_from(last) {
        Some(rest) => Some(Read::Begun(answer, rest)),
        None if window.lines.len() == 1 => Some(Read::Answer(Arc::new(answer))),
        None => None,
    }
}

fn halved(window: &Window) -> Result<Read, ExtractError> {
    let halves = window.halves().map(|(first, second)| Read::Halves(first, second));
    halves.ok_or_else(|| ExtractError::BadOutput("the answer to one sentence is too long".to_owned()))
}
