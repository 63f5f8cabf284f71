//! What of the host's messages must be repeated to another process, and which requests it still waits for.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// How the ids of requests begin that are made on the host's behalf; their answers are not for it.
const OURS: &str = "remembrancer-again-";
/// The most subscriptions that are made again.
const SUBSCRIPTIONS_MAX: usize = 100;

/// The parts of a message of either side that the session depends on.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
    params: Option<Params>,
    result: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Params {
    uri: Option<String>,
    #[serde(rename = "requestId")]
    request_id: Option<Value>,
    notifications: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Option<Value>,
}

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The conversation of a host, whichever process it is held with.
#[derive(Default)]
pub(super) struct Session {
    initialize: Option<Handshake>,
    initialized: Option<Vec<u8>>,
    /// Requests that were passed on, by their ids as JSON.
    in_flight: BTreeMap<String, InFlight>,
    subscriptions: BTreeSet<String>,
    /// How many requests were made on the host's behalf.
    made: u64,
    /// Acknowledgements that the host has had already, by subscription.
    acknowledged: BTreeSet<String>,
}

struct Handshake {
    line: Vec<u8>,
    id: Value,
    greeting: Option<Value>,
}

struct InFlight {
    id: Value,
    kind: Kind,
}

enum Kind {
    Initialize,
    Subscribe(String),
    Unsubscribe(String),
    /// A request that stays open; as it was made, and what it is about.
    Listen {
        line: Vec<u8>,
        uris: Vec<String>,
    },
    Other,
}

impl Session {
    /// Notes a line of the host that is about to be passed on. Gives the key of a request.
    pub(super) fn passes_on(&mut self, line: &[u8]) -> Option<String> {
        let Ok(message) = serde_json::from_slice::<Envelope>(line) else { return None };
        let method = message.method?;
        let params = message.params.unwrap_or_default();
        let Some(id) = message.id else {
            match method.as_str() {
                "notifications/initialized" => self.initialized = Some(line.to_vec()),
                "notifications/cancelled" => {
                    if let Some(cancelled) = params.request_id {
                        self.in_flight.remove(&cancelled.to_string());
                        self.acknowledged.remove(&cancelled.to_string());
                    }
                }
                _ => {}
            }
            return None;
        };
        let key = id.to_string();
        let kind = match (method.as_str(), params.uri) {
            ("initialize", _) => {
                self.initialize = Some(Handshake { line: line.to_vec(), id: id.clone(), greeting: None });
                Kind::Initialize
            }
            ("resources/subscribe", Some(uri)) => Kind::Subscribe(uri),
            ("resources/unsubscribe", Some(uri)) => Kind::Unsubscribe(uri),
            ("subscriptions/listen", _) => {
                let wanted = params.notifications.unwrap_or_default();
                let uris = wanted["resourceSubscriptions"].as_array().into_iter().flatten();
                let uris = uris.filter_map(|uri| uri.as_str().map(str::to_owned)).take(SUBSCRIPTIONS_MAX);
                Kind::Listen { line: line.to_vec(), uris: uris.collect() }
            }
            _ => Kind::Other,
        };
        self.in_flight.insert(key.clone(), InFlight { id, kind });
        Some(key)
    }

    /// A request that was not passed on after all.
    pub(super) fn takes_back(&mut self, key: Option<&str>) {
        if let Some(key) = key {
            self.in_flight.remove(key);
        }
    }

    /// Whether a line of the server is for the host. Further lines may follow it.
    pub(super) fn comes_back(&mut self, line: &[u8]) -> (bool, Vec<Value>) {
        let Ok(message) = serde_json::from_slice::<Envelope>(line) else { return (true, Vec::new()) };
        if message.method.as_deref() == Some("notifications/subscriptions/acknowledged") {
            let meta = message.params.and_then(|params| params.meta).unwrap_or_default();
            // The first is the host's; those of subscriptions that were made again are not.
            return (self.acknowledged.insert(meta[SUBSCRIPTION_ID].to_string()), Vec::new());
        }
        let (None, Some(id)) = (message.method, message.id) else { return (true, Vec::new()) };
        if id.as_str().is_some_and(|id| id.starts_with(OURS)) {
            return (false, self.compare_greeting(result_of(line)));
        }
        let Some(answered) = self.in_flight.remove(&id.to_string()) else { return (true, Vec::new()) };
        match (answered.kind, message.result) {
            (Kind::Initialize, Some(_)) => {
                if let Some(handshake) = &mut self.initialize {
                    handshake.greeting = result_of(line);
                }
            }
            (Kind::Subscribe(uri), Some(_)) if self.subscriptions.len() < SUBSCRIPTIONS_MAX => {
                self.subscriptions.insert(uri);
            }
            (Kind::Unsubscribe(uri), Some(_)) => {
                self.subscriptions.remove(&uri);
            }
            _ => {}
        }
        (true, Vec::new())
    }

    /// A server of another version may have other tools.
    fn compare_greeting(&mut self, result: Option<Value>) -> Vec<Value> {
        let Some(greeting) = result.filter(|result| result["serverInfo"].is_object()) else {
            return Vec::new();
        };
        let Some(known) = self.initialize.as_mut().and_then(|handshake| handshake.greeting.as_mut()) else {
            return Vec::new();
        };
        if *known == greeting {
            return Vec::new();
        }
        *known = greeting;
        vec![json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })]
    }

    /// The process has gone: what its requests are answered. Those that another process can be asked without harm stay.
    pub(super) fn lost(&mut self, reason: &str) -> Vec<Value> {
        let stays = |kind: &Kind| matches!(kind, Kind::Initialize | Kind::Listen { .. });
        let gone: Vec<String> = self
            .in_flight
            .iter()
            .filter(|(_, request)| !stays(&request.kind))
            .map(|(key, _)| key.clone())
            .collect();
        let gone = gone.into_iter().filter_map(|key| self.in_flight.remove(&key));
        gone.map(|request| refusal(&request.id, reason)).collect()
    }

    /// Whether the host waits for something that no request of its own will bring up.
    pub(super) fn expects_news(&self) -> bool {
        !self.subscriptions.is_empty() || !self.in_flight.is_empty()
    }

    /// The lines that another process gets first, so that the host does not notice the change.
    pub(super) fn repeated(&mut self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        if let Some(handshake) = &self.initialize {
            let is_awaited = self.in_flight.contains_key(&handshake.id.to_string());
            let line =
                if is_awaited { Some(handshake.line.clone()) } else { with_id(&handshake.line, self.made) };
            self.made += 1;
            lines.extend(line);
        }
        lines.extend(self.initialized.clone());
        for uri in &self.subscriptions {
            let id = format!("{OURS}{}", self.made);
            self.made += 1;
            let subscribe = json!({ "jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": { "uri": uri } });
            lines.push(format!("{subscribe}\n").into_bytes());
        }
        for request in self.in_flight.values() {
            if let Kind::Listen { line, .. } = &request.kind {
                lines.push(line.clone());
            }
        }
        lines
    }

    /// The notifications to the host after that: what it watches may have changed meanwhile.
    pub(super) fn news(&self) -> Vec<Value> {
        let updated = |params: Value| json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params });
        let mut news: Vec<Value> =
            self.subscriptions.iter().map(|uri| updated(json!({ "uri": uri }))).collect();
        for (key, request) in &self.in_flight {
            if let Kind::Listen { uris, .. } = &request.kind
                && self.acknowledged.contains(key)
            {
                let notification =
                    |uri| updated(json!({ "uri": uri, "_meta": { SUBSCRIPTION_ID: request.id } }));
                news.extend(uris.iter().map(notification));
            }
        }
        news
    }
}

/// A request is refused by a JSON-RPC error; whether to make it again is the host's to say.
pub(super) fn refusal(id: &Value, reason: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": reason } })
}

/// The id of a request, if the line is one.
pub(super) fn id_of(line: &[u8]) -> Option<Value> {
    let message = serde_json::from_slice::<Envelope>(line).ok()?;
    message.method.and(message.id)
}

fn result_of(line: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Value>(line).ok()?.get("result").cloned()
}

/// The same request under an id of ours.
fn with_id(line: &[u8], number: u64) -> Option<Vec<u8>> {
    let mut request = serde_json::from_slice::<Value>(line).ok()?;
    request["id"] = json!(format!("{OURS}{number}"));
    Some(format!("{request}\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &Value) -> Vec<u8> {
        format!("{message}\n").into_bytes()
    }

    fn request(id: i64, method: &str, params: &Value) -> Vec<u8> {
        line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    fn answer(id: &Value, result: &Value) -> Vec<u8> {
        line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    /// A host that has shaken hands and subscribed.
    fn session() -> Session {
        let mut session = Session::default();
        session.passes_on(&request(0, "initialize", &json!({})));
        assert!(session.comes_back(&answer(&json!(0), &json!({ "serverInfo": { "version": "1" } }))).0);
        session.passes_on(&line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })));
        session.passes_on(&request(1, "resources/subscribe", &json!({ "uri": "memory://x" })));
        assert!(session.comes_back(&answer(&json!(1), &json!({}))).0);
        session
    }

    #[test]
    fn a_call_in_flight_is_refused_once_and_never_made_again() {
        let mut session = session();
        session.passes_on(&request(7, "tools/call", &json!({ "name": "remember" })));
        let refused = session.lost("gone");
        assert_eq!(
            refused,
            [json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32000, "message": "gone" } })]
        );
        assert_eq!(session.lost("gone"), Vec::<Value>::new());
        let again = session.repeated();
        let again: Vec<Value> = again.iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
        let methods: Vec<&str> = again.iter().filter_map(|message| message["method"].as_str()).collect();
        assert_eq!(methods, ["initialize", "notifications/initialized", "resources/subscribe"]);
        assert_eq!(session.news()[0]["params"]["uri"], "memory://x");
        // The answers to what was said again are not the host's.
        for message in again.iter().filter(|message| !message["id"].is_null()) {
            assert!(!session.comes_back(&answer(&message["id"], &json!({}))).0);
        }
    }

    #[test]
    fn what_was_answered_cancelled_or_taken_back_is_not_refused() {
        let mut session = session();
        session.passes_on(&request(7, "tools/call", &json!({})));
        session.comes_back(&answer(&json!(7), &json!({})));
        session.passes_on(&request(8, "tools/call", &json!({})));
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 8 } });
        session.passes_on(&line(&cancel));
        let key = session.passes_on(&request(9, "tools/call", &json!({})));
        session.takes_back(key.as_deref());
        assert_eq!(session.lost("gone"), Vec::<Value>::new());
        session.passes_on(&request(10, "resources/unsubscribe", &json!({ "uri": "memory://x" })));
        session.comes_back(&answer(&json!(10), &json!({})));
        assert!(!session.expects_news());
    }

    #[test]
    fn a_handshake_that_was_not_answered_is_said_again_as_it_was() {
        let mut session = Session::default();
        let first = request(0, "initialize", &json!({}));
        session.passes_on(&first);
        assert_eq!(session.lost("gone"), Vec::<Value>::new());
        assert_eq!(session.repeated(), [first]);
        assert!(session.comes_back(&answer(&json!(0), &json!({}))).0);
    }

    #[test]
    fn a_subscription_that_stays_open_is_made_again_and_acknowledged_once() {
        let mut session = Session::default();
        let listen = request(
            5,
            "subscriptions/listen",
            &json!({ "notifications": { "resourceSubscriptions": ["memory://x"] } }),
        );
        session.passes_on(&listen);
        let acknowledged =
            line(&json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": { "_meta": { SUBSCRIPTION_ID: 5 } } }));
        assert!(session.comes_back(&acknowledged).0);
        assert_eq!(session.lost("gone"), Vec::<Value>::new());
        assert_eq!(session.repeated(), [listen]);
        assert!(!session.comes_back(&acknowledged).0);
        assert_eq!(session.news()[0]["params"]["_meta"][SUBSCRIPTION_ID], 5);
    }

    #[test]
    fn a_server_of_another_version_has_the_host_look_at_the_tools_again() {
        let mut session = session();
        let again: Value = serde_json::from_slice(&session.repeated()[0]).unwrap();
        let same = answer(&again["id"], &json!({ "serverInfo": { "version": "1" } }));
        assert_eq!(session.comes_back(&same).1, Vec::<Value>::new());
        let other = answer(&again["id"], &json!({ "serverInfo": { "version": "2" } }));
        assert_eq!(session.comes_back(&other).1[0]["method"], "notifications/tools/list_changed");
    }
}
