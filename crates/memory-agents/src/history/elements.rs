//! The elements of a list in a file of JSON, one at a time: the file's own list, or lists under keys of its object.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};
use std::rc::Rc;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::{Found, Take};

/// Reads each element; `read` gets the key of its list, which is empty for the file's own.
pub(super) fn each<R: Read>(
    reader: R,
    keys: &[&str],
    take: Take<'_>,
    mut read: impl FnMut(&str, &Value) -> super::Read,
) -> io::Result<()> {
    let line = Rc::new(Cell::new(1));
    let counting = Counting { reader, line: Rc::clone(&line) };
    let mut stopped = false;
    let mut give = |key: &str, value: &Value| {
        let found = match read(key, value) {
            Ok(texts) => texts.into_iter().map(Found::Text).collect(),
            Err(reason) => vec![Found::Problem { line: line.get(), reason }],
        };
        stopped = !found.into_iter().all(&mut *take);
        !stopped
    };
    let mut deserializer = serde_json::Deserializer::from_reader(counting);
    let outcome = Whole { keys, give: &mut give }.deserialize(&mut deserializer);
    match outcome {
        Err(error) if error.is_io() => Err(error.into()),
        Err(error) if !stopped => {
            take(Found::Problem {
                line: error.line() as u64,
                reason: format!("{error}; nothing behind it was read"),
            });
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Counts lines as they are read: the parser reads byte by byte.
struct Counting<R> {
    reader: R,
    line: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counting<R> {
    #[expect(clippy::naive_bytecount, reason = "the parser asks for one byte at a time")]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        let ends = buffer[..count].iter().filter(|byte| **byte == b'\n').count();
        self.line.set(self.line.get() + ends as u64);
        Ok(count)
    }
}

/// What is done with each element; `false` ends the reading.
type Give<'a> = &'a mut dyn FnMut(&str, &Value) -> bool;

struct Whole<'a> {
    keys: &'a [&'a str],
    give: Give<'a>,
}

struct List<'a> {
    key: &'a str,
    give: Give<'a>,
}

const STOPPED: &str = "stopped";

impl<'de> DeserializeSeed<'de> for Whole<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.keys.is_empty() {
            return formatter.write_str("a list");
        }
        write!(formatter, "a list, or an object with {}", self.keys.join(" or "))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<(), A::Error> {
        List { key: "", give: self.give }.visit_seq(sequence)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut object = serde_json::Map::new();
        let mut has_list = false;
        while let Some(key) = map.next_key::<String>()? {
            if self.keys.contains(&key.as_str()) {
                has_list = true;
                map.next_value_seed(List { key: &key, give: self.give })?;
            } else if has_list || object.len() > 20 {
                map.next_value::<IgnoredAny>()?;
            } else {
                object.insert(key, map.next_value()?);
            }
        }
        // A file with one element alone.
        if !has_list && !(self.give)("", &Value::Object(object)) {
            return Err(serde::de::Error::custom(STOPPED));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        while let Some(element) = sequence.next_element::<Value>()? {
            if !(self.give)(self.key, &element) {
                return Err(serde::de::Error::custom(STOPPED));
            }
        }
        Ok(())
    }
}
