//! What a message of the protocol may cost. It is walked once without keeping anything of it, and only what
//! passes is parsed into a tree; large ones on threads of their own.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use memory_language::text::cut;
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// The longest message: ten million characters of content, escaped.
pub(crate) const MESSAGE_MAX_BYTES: usize = 64 * 1024 * 1024;
/// The largest message that is parsed on the async thread; a larger one is parsed on a thread of its own.
pub(crate) const SMALL_MAX_BYTES: usize = 64 * 1024;
/// The most values in a message: twice what the largest call of the graph has. Each may take a hundred times its
/// bytes while the protocol library reads it.
const VALUES_MAX: usize = 300_000;
const ID_MAX_CHARS: usize = 256;
const ID_KEY: &[u8] = b"\"id\":";
/// The most of a fault that is shown to the client.
const FAULT_MAX_CHARS: usize = 200;

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// The message is in order, but cannot be answered now.
pub(crate) const NOT_NOW: i64 = -32000;

/// How many large messages are read at a time, from all clients.
static READERS: Semaphore = Semaphore::const_new(2);

/// Why a message is not taken in.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) id: Value,
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(id: Value, code: i64, what: &str) -> Self {
        let what = cut(what, FAULT_MAX_CHARS);
        let message = match code {
            PARSE_ERROR => format!("Parse error: {what}"),
            INVALID_REQUEST => format!("Invalid Request: {what}"),
            _ => what,
        };
        Self { id, code, message }
    }

    pub(crate) fn answer(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": { "code": self.code, "message": self.message } })
    }
}

/// Refuses what is no JSON, is nested too deep (128 levels), has too many values, or says a key twice.
pub(crate) fn check(message: &[u8]) -> Result<(), Fault> {
    let mut reader = serde_json::Deserializer::from_slice(message);
    let mut left = VALUES_MAX;
    let walk = Walk { left: &mut left, is_top: true };
    walk.deserialize(&mut reader).and_then(|()| reader.end()).map_err(|error| {
        let code = if error.is_data() { INVALID_REQUEST } else { PARSE_ERROR };
        Fault::new(id_of(message), code, &error.to_string())
    })
}

/// Does what may take long with a large message: on a thread of its own, of which there are few.
pub(crate) async fn apart<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let _reader = READERS.acquire().await.ok()?;
    tokio::task::spawn_blocking(read).await.ok()
}

/// The id for the answer to a faulty message, if it can be found. The parser accepts faults in values that it skips, so the id can often
/// be read although the message cannot.
pub(crate) fn id_of(message: &[u8]) -> Value {
    #[derive(Deserialize)]
    struct Envelope {
        id: Id,
    }
    serde_json::from_slice(message).map_or(Value::Null, |Envelope { id: Id(id) }| id)
}

/// The same of a message of which only the beginning and the end were kept.
pub(crate) fn id_of_parts(head: &[u8], tail: &[u8]) -> Value {
    let mut id = Value::Null;
    let top = Top { id: &mut id };
    // What breaks off breaks off; what was seen before counts.
    let _ = serde_json::Deserializer::from_slice(head).deserialize_map(top);
    if !id.is_null() {
        return id;
    }
    let Some(at) = tail.windows(ID_KEY.len()).rposition(|window| window == ID_KEY) else {
        return Value::Null;
    };
    let mut last = serde_json::Deserializer::from_slice(&tail[at + ID_KEY.len()..]).into_iter::<Id>();
    let Some(Ok(Id(id))) = last.next() else { return Value::Null };
    // Only an id at the very end is the message's own.
    let rest = &tail[at + ID_KEY.len() + last.byte_offset()..];
    if rest.trim_ascii() == b"}" { id } else { Value::Null }
}

/// An id that may be answered with: a number or a short string.
#[derive(Default)]
struct Id(Value);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;

        impl Visitor<'_> for IdVisitor {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an id that is a whole number or a string of at most {ID_MAX_CHARS} characters")
            }

            fn visit_i64<E>(self, id: i64) -> Result<Id, E> {
                Ok(Id(json!(id)))
            }

            fn visit_u64<E>(self, id: u64) -> Result<Id, E> {
                Ok(Id(json!(id)))
            }

            fn visit_str<E: de::Error>(self, id: &str) -> Result<Id, E> {
                if id.len() > 4 * ID_MAX_CHARS || id.chars().count() > ID_MAX_CHARS {
                    return Err(E::invalid_length(id.len(), &self));
                }
                Ok(Id(json!(id)))
            }

            fn visit_unit<E>(self) -> Result<Id, E> {
                Ok(Id::default())
            }
        }

        deserializer.deserialize_any(IdVisitor)
    }
}

/// Looks for the id among the keys of a message.
struct Top<'a> {
    id: &'a mut Value,
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == "id" {
                *self.id = map.next_value::<Id>()?.0;
            } else {
                map.next_value::<de::IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Goes through a value and counts; nothing of it is kept but the keys of the objects that are open.
struct Walk<'a> {
    left: &'a mut usize,
    is_top: bool,
}

impl Walk<'_> {
    fn below(&mut self) -> Walk<'_> {
        Walk { left: self.left, is_top: false }
    }

    fn count<E: de::Error>(&mut self) -> Result<(), E> {
        *self.left = self.left.checked_sub(1).ok_or_else(|| {
            E::custom(format_args!("the message has more than {VALUES_MAX} values; send less at once"))
        })?;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<(), D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self.below())?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(Key(key)) = map.next_key()? {
            let is_id = self.is_top && key == "id";
            if seen.contains(&key) {
                let key = cut(&key, 60);
                return Err(de::Error::custom(format_args!(
                    "the key {key:?} is twice in an object; write it once"
                )));
            }
            seen.insert(key);
            if is_id {
                self.count()?;
                map.next_value::<Id>()?;
            } else {
                map.next_value_seed(self.below())?;
            }
        }
        Ok(())
    }
}

/// A key, borrowed from the message where it holds no escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(message: &str) -> Fault {
        check(message.as_bytes()).expect_err("it is refused")
    }

    #[test]
    fn ordinary_messages_pass() {
        let call = r#"{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"recall","arguments":
            {"query":"spare \u00e9 key","tags":["a","b"],"min_importance":0.5,"explain":true,"id":null}}}"#;
        assert!(check(call.as_bytes()).is_ok());
        let many = format!("[{}1]", "1,".repeat(VALUES_MAX - 2));
        assert!(check(many.as_bytes()).is_ok());
    }

    #[test]
    fn too_many_values_and_too_deep_ones_are_refused_with_the_id_wherever_it_stands() {
        let many = format!("[{}1]", "{},".repeat(VALUES_MAX));
        let refused = fault(&format!(r#"{{"params":{many},"id":7}}"#));
        assert_eq!((refused.code, &refused.id), (INVALID_REQUEST, &json!(7)));
        assert!(refused.message.contains("300000 values"), "{}", refused.message);
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let refused = fault(&format!(r#"{{"id":"x","params":{deep}}}"#));
        assert_eq!((refused.code, &refused.id), (PARSE_ERROR, &json!("x")));
    }

    #[test]
    fn a_key_that_stands_twice_is_named_also_when_it_is_written_in_another_way() {
        for arguments in [r#"{"id":"art_1","id":"art_2"}"#, r#"{"id":"art_1","\u0069d":"art_2"}"#] {
            let refused = fault(&format!(r#"{{"id":1,"params":{{"arguments":{arguments}}}}}"#));
            assert_eq!(refused.code, INVALID_REQUEST);
            assert!(refused.message.contains("\"id\" is twice"), "{}", refused.message);
        }
        // In two objects it is once in each.
        assert!(check(br#"{"id":1,"params":[{"a":1},{"a":2}]}"#).is_ok());
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        for bad in ["", "not json", r#"{"id":3,"a":"\ud800"}"#, r#"{"id":3,"a":1e999}"#, "{} {}", "[1,]"] {
            assert_eq!(fault(bad).code, PARSE_ERROR, "{bad}");
        }
        assert_eq!(fault(r#"{"a":"\ud800","id":3}"#).id, json!(3));
    }

    #[test]
    fn an_id_is_a_number_or_a_short_string() {
        for bad in [json!([1]), json!({"a": 1}), json!(true), json!("x".repeat(300))] {
            let refused = fault(&format!(r#"{{"id":{bad},"method":"ping"}}"#));
            assert_eq!((refused.code, refused.id), (INVALID_REQUEST, Value::Null), "{bad}");
        }
    }

    #[test]
    fn the_id_of_a_message_that_was_too_long_is_found_at_its_beginning_or_its_end() {
        let head = br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"rem"#;
        assert_eq!(id_of_parts(head, b"xxxx\"}}}"), json!(5));
        let head = br#"{"method":"tools/call","params":{"name":"rem"#;
        assert_eq!(id_of_parts(head, br#"xx"}},"jsonrpc":"2.0","id":"q-9"}"#), json!("q-9"));
        // An id of something within is none of the message's.
        assert_eq!(id_of_parts(head, br#"xx","id":"q-9"}}}"#), Value::Null);
        assert_eq!(id_of_parts(head, b"xxxxxxxx\"}}}"), Value::Null);
    }
}
