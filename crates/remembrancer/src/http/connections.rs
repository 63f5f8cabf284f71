//! Connections over HTTP: how many there may be, which goes when there are too many, and how long one may say
//! nothing.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::io::Write;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::attempts::network;
use super::proxies::TrustedProxies;
use super::unread;

/// How long a connection may stay open without a whole request head, from its opening or its last answer.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest request head.
const HEAD_MAX_BYTES: usize = 32 * 1024;
/// What is read or written at a time.
const BUFFER_MAX_BYTES: usize = 128 * 1024;
/// Said to a connection that is one too many.
const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
    Content-Type: text/plain\r\nContent-Length: 52\r\n\r\nToo many requests are being answered. Try again soon.";

/// Said to one that is one too many of its address.
const TOO_MANY: &[u8] = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\nConnection: close\r\n\
    Content-Type: text/plain\r\nContent-Length: 65\r\n\r\nToo many connections are open from this address. Try again later.";

/// How many connections there may be.
#[derive(Clone)]
pub(super) struct Most {
    pub(super) in_all: usize,
    /// Loopback and trusted proxies have no limit of their own: what they pass on comes from many.
    pub(super) of_an_address: usize,
    pub(super) proxies: TrustedProxies,
}

/// Files that the process may open, raised to what the system allows. Connections get a quarter: the database, the
/// local socket and the model have the rest.
pub(super) fn most_connections(wanted: usize) -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum && limit.current.is_some() {
        let raised = rustix::process::Rlimit { current: limit.maximum, ..limit };
        if setrlimit(Resource::Nofile, raised).is_ok() {
            limit = raised;
        }
    }
    let files = limit.current.map_or(usize::MAX, |files| files as usize);
    wanted.min((files / 4).max(8))
}

/// Accepts until `stop` is cancelled, then waits until the answers under way are given.
pub(super) async fn serve(listener: TcpListener, app: Router, most: Most, stop: CancellationToken) {
    let open = Open::new(most);
    let mut tasks = JoinSet::new();
    loop {
        let (stream, peer) = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = tasks.join_next() => continue,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a connection");
                    open.close_oldest();
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        match open.admit(peer.ip()) {
            Ok(connection) => _ = tasks.spawn(attend(stream, app.clone(), connection, stop.clone())),
            Err(answer) => {
                metrics::counter!("remembrancer_http_connections_refused_total").increment(1);
                turn_away(stream, answer);
            }
        }
    }
    drop(listener);
    while tasks.join_next().await.is_some() {}
}

async fn attend(stream: TcpStream, app: Router, connection: Connection, stop: CancellationToken) {
    // An answer must not wait for the client's acknowledgement of the one before.
    let _ = stream.set_nodelay(true);
    let connection = Arc::new(connection);
    let (app, asked) = (TowerToHyperService::new(app), Arc::clone(&connection));
    let service = service_fn(move |mut request: Request<Incoming>| {
        asked.waits();
        let client = asked.open.most.proxies.client(asked.peer, request.headers());
        request.extensions_mut().insert(client);
        request.extensions_mut().insert(Arc::clone(&asked));
        let (head, body) = request.into_parts();
        let (body, rest) = unread::lend(body);
        let answering = app.call(Request::from_parts(head, body));
        async move {
            let mut response = answering.await?;
            rest.settle(&mut response).await;
            Ok::<_, Infallible>(response)
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(HEAD_MAX_BYTES)
        .max_buf_size(BUFFER_MAX_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    let mut is_stopping = false;
    loop {
        tokio::select! {
            _ = &mut serving => return,
            () = connection.closing.cancelled() => return,
            () = stop.cancelled(), if !is_stopping => {
                is_stopping = true;
                serving.as_mut().graceful_shutdown();
            }
        }
    }
}

fn turn_away(stream: TcpStream, answer: &[u8]) {
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write_all(answer);
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }
}

/// The connections that are open. Those that wait for their client, for a request or the rest of one, may be
/// closed for another.
struct Open {
    most: Most,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    count: usize,
    /// By networks, without loopback and trusted proxies.
    by_address: HashMap<IpAddr, usize>,
    next_turn: u64,
    /// Idle connections, longest first.
    waiting: BTreeMap<u64, CancellationToken>,
}

pub(super) struct Connection {
    open: Arc<Open>,
    /// The address at its other end.
    peer: IpAddr,
    closing: CancellationToken,
    /// Its key among the idle connections, while it is idle.
    turn: Mutex<Option<u64>>,
}

/// A request that is being answered: its connection is not closed for another.
pub(super) struct Answering(Arc<Connection>);

impl Open {
    fn new(most: Most) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits one more connection; where there are too many, the one that is idle for longest is closed. An error is the answer to send when
    /// every connection is busy, or the address has too many.
    fn admit(self: &Arc<Self>, peer: IpAddr) -> Result<Connection, &'static [u8]> {
        let from = network(peer);
        if self.state().by_address.get(&from).is_some_and(|open| *open >= self.most.of_an_address) {
            return Err(TOO_MANY);
        }
        if self.state().count >= self.most.in_all && !self.close_oldest() {
            return Err(TURNED_AWAY);
        }
        let mut state = self.state();
        state.count += 1;
        if !from.is_loopback() && !self.most.proxies.has(peer) {
            *state.by_address.entry(from).or_default() += 1;
        }
        drop(state);
        metrics::gauge!("remembrancer_http_connections").increment(1.0);
        let connection = Connection {
            open: Arc::clone(self),
            peer,
            closing: CancellationToken::new(),
            turn: Mutex::default(),
        };
        connection.waits();
        Ok(connection)
    }

    fn close_oldest(&self) -> bool {
        let oldest = self.state().waiting.pop_first();
        if let Some((_, closing)) = &oldest {
            closing.cancel();
        }
        oldest.is_some()
    }
}

impl Connection {
    /// Marks the connection as idle: it waits for its client.
    fn waits(&self) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.open.state();
        if let Some(turn) = turn.take() {
            state.waiting.remove(&turn);
        }
        let next = state.next_turn;
        state.next_turn += 1;
        state.waiting.insert(next, self.closing.clone());
        *turn = Some(next);
    }

    fn waits_no_more(&self) {
        if let Some(turn) = self.turn.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.open.state().waiting.remove(&turn);
        }
    }

    /// Marks the connection as busy: a whole request has arrived.
    pub(super) fn answering(self: Arc<Self>) -> Answering {
        self.waits_no_more();
        Answering(self)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.waits();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.waits_no_more();
        let mut state = self.open.state();
        state.count -= 1;
        if let Entry::Occupied(mut open) = state.by_address.entry(network(self.peer)) {
            *open.get_mut() -= 1;
            if *open.get() == 0 {
                open.remove();
            }
        }
        drop(state);
        metrics::gauge!("remembrancer_http_connections").decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn most(in_all: usize) -> Most {
        let proxies = TrustedProxies(vec!["198.51.100.0/24".parse().expect("a network")]);
        Most { in_all, of_an_address: 2, proxies }
    }

    #[test]
    fn an_address_has_no_more_than_its_share_and_loopback_and_proxies_have_all() {
        let open = Open::new(most(100));
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let one = address("2001:db8:1:2::1");
        let held = [open.admit(one), open.admit(address("2001:db8:1:2::2"))];
        let refused = open.admit(one).err().expect("a third is one too many");
        let text = std::str::from_utf8(refused).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with("HTTP/1.1 429 ") && head.contains("Retry-After: 5"), "{head}");
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{head} {}", body.len());
        assert!(open.admit(address("2001:db8:1:3::1")).is_ok());
        drop(held);
        assert!(open.admit(one).is_ok());
        let local: Vec<_> = (0..5).map(|_| open.admit(LOCAL)).collect();
        assert!(local.iter().all(Result::is_ok));
        let proxied: Vec<_> = (0..5).map(|_| open.admit(address("198.51.100.1"))).collect();
        assert!(proxied.iter().all(Result::is_ok));
        drop((local, proxied));
        assert!(open.state().by_address.is_empty(), "nothing is kept of who has left");
    }

    #[test]
    fn the_one_that_waits_longest_makes_place_and_one_that_is_answered_does_not() {
        let open = Open::new(most(3));
        let [first, second, third] = [(); 3].map(|()| Arc::new(open.admit(LOCAL).expect("a place")));
        let answering = Arc::clone(&first).answering();
        second.waits();
        let fourth = open.admit(LOCAL).expect("a place");
        assert!(third.closing.is_cancelled());
        let _fifth = open.admit(LOCAL).expect("a place");
        assert!(
            second.closing.is_cancelled() && !first.closing.is_cancelled() && !fourth.closing.is_cancelled()
        );
        drop(answering);
        for _ in 0..3 {
            assert!(open.admit(LOCAL).is_ok());
        }
        assert!(first.closing.is_cancelled());
    }

    #[test]
    fn nobody_is_admitted_while_all_are_answered_and_who_leaves_makes_place() {
        let open = Open::new(most(2));
        let [one, two] = [(); 2].map(|()| Arc::new(open.admit(LOCAL).expect("a place")));
        let answered = [Arc::clone(&one).answering(), Arc::clone(&two).answering()];
        assert!(open.admit(LOCAL).is_err());
        drop(answered);
        drop(one);
        let _three = open.admit(LOCAL).expect("a place");
        assert!(!two.closing.is_cancelled());
    }
}
