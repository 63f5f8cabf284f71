//! A stand-in for a Qdrant server: the real protocol, over the client library's own server side, with a small exact
//! engine behind it. It refuses every field of a request that it does not model, and breaks off on request.

mod collections;
mod engine;
mod filter;
mod services;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use qdrant_client::qdrant::collections_server::CollectionsServer;
use qdrant_client::qdrant::points_server::PointsServer;
use qdrant_client::qdrant::qdrant_server::QdrantServer;
use tonic::transport::server::TcpIncoming;

pub use engine::{Collection, Engine, Stored};
use services::Service;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Write,
    Delete,
    Query,
    /// Scroll, get, count.
    Read,
    /// Collections, aliases, indexes.
    Admin,
}

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Not carried out, and said so.
    Refuse,
    /// Carried out; the answer never comes.
    ApplyAndHang,
    /// Carried out; the answer is an error.
    ApplyAndFail,
    /// Answered by an error, and carried out when [`StandIn::land`] is called.
    ApplyLater,
    /// Carried out; the answer is no error, but that waiting for it took too long.
    WaitTimeout,
    /// Not carried out: too much is asked for.
    Exhausted { retry_after_seconds: u64 },
    /// Nothing happens at all.
    Hang,
}

type Script = Box<dyn FnMut(Op) -> Option<Fault> + Send>;

pub(crate) struct Shared {
    engine: Mutex<Engine>,
    script: Mutex<Option<Script>>,
    delay: Mutex<Duration>,
    api_key: Option<String>,
    calls: [AtomicUsize; 5],
}

impl Shared {
    pub(crate) fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server on a port of its own; it ends when it is dropped.
pub struct StandIn {
    shared: Arc<Shared>,
    address: SocketAddr,
    running: Option<tokio::runtime::Runtime>,
}

impl StandIn {
    pub fn start() -> Self {
        Self::with_key(None)
    }

    /// One that answers only calls with this key, the health check apart.
    pub fn with_key(api_key: Option<&str>) -> Self {
        Self::at(SocketAddr::from(([127, 0, 0, 1], 0)), api_key)
    }

    /// One at this address.
    pub fn at(address: SocketAddr, api_key: Option<&str>) -> Self {
        let shared = Arc::new(Shared {
            engine: Mutex::new(Engine::default()),
            script: Mutex::new(None),
            delay: Mutex::new(Duration::ZERO),
            api_key: api_key.map(str::to_owned),
            calls: Default::default(),
        });
        let mut stand_in = Self { shared, address, running: None };
        stand_in.listen();
        stand_in
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn listen(&mut self) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        // The port may take a moment to be free again after a restart.
        let listener = (0..200)
            .find_map(|_| {
                let bound = std::net::TcpListener::bind(self.address).ok();
                if bound.is_none() {
                    std::thread::sleep(Duration::from_millis(10));
                }
                bound
            })
            .expect("the port is free");
        listener.set_nonblocking(true).expect("a socket");
        self.address = listener.local_addr().expect("an address");
        let service = Service(Arc::clone(&self.shared));
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
            let large = 512 << 20;
            tonic::transport::Server::builder()
                .add_service(PointsServer::new(service.clone()).max_decoding_message_size(large))
                .add_service(CollectionsServer::new(service.clone()))
                .add_service(QdrantServer::new(service))
                .serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true)))
                .await
                .expect("it serves");
        });
        self.running = Some(runtime);
    }

    /// Closes the listener, and cuts every connection.
    pub fn stop(&mut self) {
        if let Some(runtime) = self.running.take() {
            runtime.shutdown_background();
        }
    }

    /// It listens again, without its last `lost` writes.
    pub fn restart(&mut self, lost: usize) {
        self.stop();
        self.shared.engine().lose(lost);
        self.listen();
    }

    /// All collections and aliases are gone.
    pub fn wipe(&self) {
        *self.shared.engine() = Engine::default();
    }

    /// Carries out what was to be carried out late.
    pub fn land(&self) {
        self.shared.engine().land();
    }

    /// Asked before each call whether it goes wrong.
    pub fn script(&self, script: impl FnMut(Op) -> Option<Fault> + Send + 'static) {
        *self.shared.script.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(script));
    }

    /// The next `times` calls of a kind go wrong.
    pub fn fail(&self, op: Op, fault: Fault, times: usize) {
        let mut left = times;
        self.script(move |asked| {
            let hit = asked == op && left > 0;
            left -= usize::from(hit);
            hit.then_some(fault)
        });
    }

    /// All goes well again.
    pub fn heal(&self) {
        *self.shared.script.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.delay(Duration::ZERO);
    }

    /// Every call takes this much longer.
    pub fn delay(&self, delay: Duration) {
        *self.shared.delay.lock().unwrap_or_else(PoisonError::into_inner) = delay;
    }

    pub fn calls(&self, op: Op) -> usize {
        self.shared.calls[op as usize].load(Ordering::SeqCst)
    }

    /// Collections and how many points each has.
    pub fn collections(&self) -> BTreeMap<String, usize> {
        self.shared.engine().sizes()
    }

    /// Aliases and the collections they name.
    pub fn aliases(&self) -> BTreeMap<String, String> {
        self.shared.engine().aliases.clone()
    }

    /// Looks at, or spoils, what it holds.
    pub fn engine(&self) -> MutexGuard<'_, Engine> {
        self.shared.engine()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.stop();
    }
}
