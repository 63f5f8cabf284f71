//! Whatever crashes and wherever, with whatever the server does meanwhile: once everything is applied, the mirror is what
//! Postgres says.
//!
//! A crash is a future that is dropped at one of its awaits: before a step, while its answer is on the way, or after it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use memory_core::artifact::Draft;
use memory_core::graph::GraphScope;
use memory_core::id::{AnyId, ArtifactId};
use memory_engine::progress::unreported;
use memory_store::vector::Times;
use memory_tests::qdrant::{Fault, Op, StandIn};
use memory_tests::{Fixture, turn};

use crate::graph_shorthand::{about, entity};
use crate::mirror_shorthand::{assert_sound, memory_on, mirrored_by, quick, server, settle_at_last};
use crate::shorthand::{execute, note, page};

/// A generator of its own: a seed tells the whole run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Ends after so many polls, whatever the future was about to do.
struct Crashing<F> {
    inner: Pin<Box<F>>,
    polls_left: u64,
    /// As soon as it waits again, or when what it waited for has come.
    while_waiting: bool,
}

impl<F: Future> Future for Crashing<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.polls_left == 0 {
            return Poll::Ready(None);
        }
        self.polls_left -= 1;
        match self.inner.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.polls_left == 0 && self.while_waiting => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

fn crashing<F: Future>(numbers: &mut Numbers, polls_max: u64, inner: F) -> Crashing<F> {
    Crashing {
        inner: Box::pin(inner),
        polls_left: 1 + numbers.below(polls_max),
        while_waiting: numbers.one_in(2),
    }
}

/// One run.
struct Run {
    f: Fixture,
    stand_in: StandIn,
    numbers: Numbers,
    known: Vec<ArtifactId>,
}

/// What is late comes before it is confirmed; the end of the run confirms.
fn times() -> Times {
    Times { call: Duration::from_millis(60), confirm: Duration::from_secs(3600), ..quick() }
}

impl Run {
    async fn new(seed: u64) -> Self {
        let stand_in = StandIn::start();
        let f = mirrored_by(server(&stand_in.url(), times())).await;
        Self { f, stand_in, numbers: Numbers(seed), known: Vec::new() }
    }

    /// Something that a client does, which may crash too.
    async fn act(&mut self) {
        let n = self.numbers.below(1_000);
        let draft = match self.numbers.below(8) {
            0 | 1 => note(&format!("zebra {n}")),
            2 => page(&format!("{}", n % 5), &format!("harbour {n}")),
            // The same text at the same place: only what is said about it changes.
            3 => Draft { tags: vec![format!("t{n}")], ..page("same", "lantern") },
            4 => Draft { title: Some(format!("Title {n}")), ..page("titled", "pepper") },
            5 => turn("talk", i64::try_from(n % 6).expect("small"), "Ann", &format!("violin {n}")),
            6 => note(&format!("Decision by Ann on Apollo{n}")),
            _ => return self.act_otherwise(n).await,
        };
        let memory = Arc::clone(&self.f.memory);
        let ns = self.f.ns.clone();
        let remembering = async move { memory.remember(&ns, draft).await };
        let done = if self.numbers.one_in(4) {
            crashing(&mut self.numbers, 12, remembering).await
        } else {
            Some(remembering.await)
        };
        if let Some(done) = done {
            self.known.push(done.expect("it is remembered").id);
        }
    }

    async fn act_otherwise(&mut self, n: u64) {
        let (memory, ns) = (Arc::clone(&self.f.memory), self.f.ns.clone());
        match self.numbers.below(6) {
            0..=2 if !self.known.is_empty() => {
                let id = self.known.swap_remove(self.numbers.below(self.known.len() as u64) as usize);
                let forgetting = async move { memory.forget(&ns, &AnyId::Artifact(id), true).await };
                if let Some(done) = crashing(&mut self.numbers, 30, forgetting).await {
                    done.expect("it is forgotten");
                }
            }
            3 => {
                let said = format!("glacier {n}");
                let entities = vec![entity("Herd", "Project", &[said.as_str()])];
                let scope = GraphScope::default();
                memory.graph().create_entities(&ns, &scope, entities).await.expect("they are created");
                let gone = vec![about("Herd", &[said.as_str()])];
                if self.numbers.one_in(2) {
                    memory.graph().delete_observations(&ns, &scope, &gone).await.expect("they are deleted");
                }
            }
            4 if self.numbers.one_in(4) => {
                memory.forget_namespace(&ns).await.expect("it is forgotten");
                self.known.clear();
            }
            _ => {
                self.f.drain().await;
            }
        }
    }

    /// The server breaks, or is well again.
    fn disturb(&mut self) {
        match self.numbers.below(8) {
            0 => self.stand_in.wipe(),
            1 => self.stand_in.land(),
            2..=4 => {
                let mut numbers = Numbers(self.numbers.below(u64::MAX));
                self.stand_in.script(move |op| {
                    let faults = [Fault::Refuse, Fault::ApplyAndHang, Fault::ApplyAndFail, Fault::Hang];
                    let writes = [Fault::ApplyLater, Fault::WaitTimeout];
                    match (numbers.below(4), op) {
                        (0, _) => Some(faults[numbers.below(4) as usize]),
                        (1, Op::Write | Op::Delete) => Some(writes[numbers.below(2) as usize]),
                        _ => None,
                    }
                });
            }
            _ => self.stand_in.heal(),
        }
    }

    /// The worker works, and crashes somewhere; another finds what it has left.
    async fn work(&mut self) {
        let memory = Arc::clone(&self.f.memory);
        let crashed = if self.numbers.one_in(6) {
            let reindexing =
                async move { memory.mirror().expect("a mirror").reindex(&unreported).await.map(|_| ()) };
            crashing(&mut self.numbers, 200, reindexing).await.is_none()
        } else {
            let applying = async move { memory.mirror().expect("a mirror").drain().await.map(|_| ()) };
            crashing(&mut self.numbers, 60, applying).await.is_none()
        };
        if crashed && self.numbers.one_in(3) {
            self.f.memory = memory_on(&self.f.url, Some(server(&self.stand_in.url(), times()))).await;
        }
        if self.numbers.one_in(3) {
            // The leases of the dead end.
            execute(&self.f, "update vector_outbox set due_at = now() where lease_token is not null").await;
        }
    }

    async fn end(mut self) {
        self.stand_in.heal();
        // What was sent last is there or is not; nothing comes later than this.
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.stand_in.land();
        // Nothing breaks any more: what is late now is only slow.
        let patient = Times { call: Duration::from_secs(10), ..times() };
        self.f.memory = memory_on(&self.f.url, Some(server(&self.stand_in.url(), patient))).await;
        crate::shorthand::drain_with_retries(&self.f).await;
        // Once for what waits, once for what then waits to be confirmed.
        for _ in 0..3 {
            execute(&self.f, "update vector_outbox set due_at = now()").await;
            settle_at_last(&self.f).await;
        }
        assert_eq!(self.f.count("select count(*) from vector_outbox").await, 0);
        let points = assert_sound(&self.f).await;
        let vectors = self.f.count("select count(*) from passage_embedding").await;
        assert_eq!(points, vectors as u64);
        assert_eq!(self.stand_in.collections().into_values().collect::<Vec<_>>(), [points as usize]);
    }
}

async fn run(seed: u64) {
    let steps =
        std::env::var("REMEMBRANCER_TEST_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(40);
    let mut run = Run::new(seed).await;
    for _ in 0..steps {
        run.act().await;
        run.disturb();
        run.work().await;
    }
    run.end().await;
}

macro_rules! seeds {
    ($($name:ident: $seed:literal),*) => {
        $(#[tokio::test]
        async fn $name() {
            run($seed).await;
        })*
    };
}

seeds! {
    the_mirror_is_sound_after_any_crash_1: 1,
    the_mirror_is_sound_after_any_crash_2: 22,
    the_mirror_is_sound_after_any_crash_3: 333,
    the_mirror_is_sound_after_any_crash_4: 4444
}

/// Each crash point of one drain, one after the other.
#[tokio::test]
async fn a_drain_may_be_broken_off_at_every_one_of_its_steps() {
    let stand_in = StandIn::start();
    let f = mirrored_by(server(&stand_in.url(), quick())).await;
    crate::mirror_shorthand::settle(&f).await;
    for while_waiting in [true, false] {
        for polls_left in 1.. {
            f.remember_as(page("plan", &format!("zebra {while_waiting} {polls_left}"))).await;
            let memory = Arc::clone(&f.memory);
            let inner = Box::pin(async move { memory.mirror().expect("a mirror").drain().await });
            let done = Crashing { inner, polls_left, while_waiting }.await;
            execute(&f, "update vector_outbox set due_at = now()").await;
            crate::mirror_shorthand::settle(&f).await;
            assert_sound(&f).await;
            if done.is_some() {
                assert!(polls_left > 1, "it waits for nobody");
                break;
            }
        }
    }
}
