//! Connections over HTTP: how many there may be, which goes when there are too many, and how long one may say
//! nothing.

use std::collections::BTreeMap;
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

/// How long a connection may stay open without a whole request head, from its opening or its last answer.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest request head.
const HEAD_MAX_BYTES: usize = 32 * 1024;
/// What is read or written at a time.
const BUFFER_MAX_BYTES: usize = 128 * 1024;
/// Said to a connection that is one too many.
const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
    Content-Type: text/plain\r\nContent-Length: 52\r\n\r\nToo many requests are being answered. Try again soon.";

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
pub(super) async fn serve(listener: TcpListener, app: Router, most: usize, stop: CancellationToken) {
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
            Some(connection) => _ = tasks.spawn(attend(stream, app.clone(), connection, stop.clone())),
            None => {
                metrics::counter!("remembrancer_http_connections_refused_total").increment(1);
                turn_away(stream);
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
        request.extensions_mut().insert(Arc::clone(&asked));
        app.call(request)
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

fn turn_away(stream: TcpStream) {
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write_all(TURNED_AWAY);
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }
}

/// The connections that are open. Those that wait for their client, for a request or the rest of one, may be
/// closed for another.
struct Open {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    count: usize,
    next_turn: u64,
    /// Idle connections, longest first.
    waiting: BTreeMap<u64, CancellationToken>,
}

pub(super) struct Connection {
    open: Arc<Open>,
    peer: IpAddr,
    closing: CancellationToken,
    /// Its place among those that wait, if it does.
    turn: Mutex<Option<u64>>,
}

/// A request that is being answered: its connection is not closed for another.
pub(super) struct Answering(Arc<Connection>);

impl Open {
    fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more, if need be that of the connection that is idle for longest; `None` when all are being answered.
    fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Connection> {
        if self.state().count >= self.most && !self.close_oldest() {
            return None;
        }
        self.state().count += 1;
        metrics::gauge!("remembrancer_http_connections").increment(1.0);
        let connection = Connection {
            open: Arc::clone(self),
            peer,
            closing: CancellationToken::new(),
            turn: Mutex::default(),
        };
        connection.waits();
        Some(connection)
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
    /// The address at its other end.
    pub(super) fn peer(&self) -> IpAddr {
        self.peer
    }

    /// From now on it waits for its client.
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

    /// The request is there whole.
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
        self.open.state().count -= 1;
        metrics::gauge!("remembrancer_http_connections").decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn the_one_that_waits_longest_makes_place_and_one_that_is_answered_does_not() {
        let open = Open::new(3);
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
            assert!(open.admit(LOCAL).is_some());
        }
        assert!(first.closing.is_cancelled());
    }

    #[test]
    fn nobody_is_admitted_while_all_are_answered_and_who_leaves_makes_place() {
        let open = Open::new(2);
        let [one, two] = [(); 2].map(|()| Arc::new(open.admit(LOCAL).expect("a place")));
        let answered = [Arc::clone(&one).answering(), Arc::clone(&two).answering()];
        assert!(open.admit(LOCAL).is_none());
        drop(answered);
        drop(one);
        let _three = open.admit(LOCAL).expect("a place");
        assert!(!two.closing.is_cancelled());
    }
}
