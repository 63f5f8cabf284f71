//! A graph as lines of JSON, byte for byte as the reference server writes its file: all entities, then all
//! relations, divided by line feeds. Reading takes what other programs and editors make of such a file.

use memory_language::text::cut;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::Invalid;
use crate::graph::{GraphEntity, GraphRelation, check_content, check_name};

/// The longest line that is read, in bytes.
pub const LINE_MAX_BYTES: usize = 256 * 1024 * 1024;

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphLine {
    Entity(GraphEntity),
    Relation(GraphRelation),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum Written<'a> {
    Entity { name: &'a str, entity_type: &'a str, observations: &'a [String] },
    Relation { from: &'a str, to: &'a str, relation_type: &'a str },
}

/// Appends the entity's line, without a line feed.
pub fn write_entity(out: &mut Vec<u8>, entity: &GraphEntity) {
    let GraphEntity { name, entity_type, observations } = entity;
    write(out, &Written::Entity { name, entity_type, observations });
}

/// Appends the relation's line, without a line feed.
pub fn write_relation(out: &mut Vec<u8>, relation: &GraphRelation) {
    let GraphRelation { from, to, relation_type } = relation;
    write(out, &Written::Relation { from, to, relation_type });
}

fn write(out: &mut Vec<u8>, line: &Written<'_>) {
    // Strings written to memory: there is nothing that could fail.
    let _ = serde_json::to_writer(out, line);
}

/// Reads the line of this number, from 1. A blank line says nothing; one on which objects have run together
/// says each of them. An entity without observations has none.
pub fn parse_line(number: u64, line: &[u8]) -> Result<Vec<GraphLine>, Invalid> {
    let text = objects(number, line);
    let mut objects = serde_json::Deserializer::from_slice(text).into_iter::<Object>();
    let mut said = Vec::with_capacity(1);
    loop {
        let rest = text[objects.byte_offset()..].trim_ascii_start();
        // Serde would take a list for an object whose fields have no names.
        let read = match objects.next() {
            None => return Ok(said),
            Some(_) if !rest.starts_with(b"{") => Err(Invalid::new("it is no JSON object")),
            Some(object) => object.map_err(|error| Invalid::new(syntax(&error))).and_then(Object::read),
        };
        said.push(read.map_err(|Invalid(reason)| broken(number, line, &reason))?);
    }
}

/// The line without what surrounds its objects.
pub(crate) fn objects(number: u64, line: &[u8]) -> &[u8] {
    let line = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    line.trim_ascii()
}

/// What serde says of a line, which it counts as the first of a text.
pub(crate) fn syntax(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// A line that cannot be taken, named by its number and its beginning.
pub(crate) fn broken(number: u64, line: &[u8], reason: &str) -> Invalid {
    let start = String::from_utf8_lossy(&line[..line.len().min(400)]);
    let start: String = start.trim().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    let reason = reason.trim_end_matches('.');
    Invalid::new(format!(
        "Line {number} cannot be read: {reason}. It begins: {} — mend that line or remove it.",
        cut(&start, 80)
    ))
}

/// Every field that either kind has; others are left out.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    #[serde(rename = "type")]
    kind: Option<Text>,
    name: Option<Text>,
    entity_type: Option<Text>,
    observations: Option<Vec<Text>>,
    from: Option<Text>,
    to: Option<Text>,
    relation_type: Option<Text>,
}

impl Object {
    fn read(self) -> Result<GraphLine, Invalid> {
        let Some(kind) = self.kind else {
            return Err(Invalid::new("it has no type; use \"entity\" or \"relation\""));
        };
        let field = |name: &str, value: Option<Text>| {
            let value = value.ok_or_else(|| Invalid::new(format!("the {} has no {name}", kind.0)))?.0;
            check_name(name, &value)?;
            Ok::<_, Invalid>(value)
        };
        match kind.0.as_str() {
            "entity" => {
                let entity = GraphEntity {
                    name: field("name", self.name)?,
                    entity_type: field("entityType", self.entity_type)?,
                    observations: self.observations.unwrap_or_default().into_iter().map(|t| t.0).collect(),
                };
                for (n, content) in entity.observations.iter().enumerate() {
                    check_content("observations", n, content)?;
                }
                Ok(GraphLine::Entity(entity))
            }
            "relation" => Ok(GraphLine::Relation(GraphRelation {
                from: field("from", self.from)?,
                to: field("to", self.to)?,
                relation_type: field("relationType", self.relation_type)?,
            })),
            "remembrancer-archive" => Err(Invalid::new(
                "it opens the archive of a whole namespace, not a graph; import it without --graph",
            )),
            other => Err(Invalid::new(format!(
                "its type is '{}'; only \"entity\" and \"relation\" are known",
                cut(other, 40)
            ))),
        }
    }
}

/// A string that may have half of a surrogate pair, as JavaScript leaves them when it cuts a text: UTF-8 has
/// no such thing, so it becomes the replacement character.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
                let text = match std::str::from_utf8(bytes) {
                    Ok(text) => text.to_owned(),
                    Err(_) => without_surrogates(bytes).ok_or_else(|| E::custom("it is not UTF-8"))?,
                };
                Ok(Text(text))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_owned()))
            }
        }
        // Asked for bytes, serde_json gives the surrogate instead of refusing it.
        deserializer.deserialize_bytes(TextVisitor)
    }
}

/// The text with each lone surrogate (`ED A0..BF xx`) replaced; `None` when it is not UTF-8 even so.
fn without_surrogates(bytes: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        match std::str::from_utf8(rest) {
            Ok(valid) => {
                text.push_str(valid);
                return Some(text);
            }
            Err(error) => {
                let (valid, invalid) = rest.split_at(error.valid_up_to());
                text.push_str(std::str::from_utf8(valid).ok()?);
                let [0xed, 0xa0..=0xbf, 0x80..=0xbf, after @ ..] = invalid else { return None };
                text.push('\u{fffd}');
                rest = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(name: &str, entity_type: &str, observations: &[&str]) -> GraphEntity {
        GraphEntity {
            name: name.into(),
            entity_type: entity_type.into(),
            observations: observations.iter().map(|&o| o.into()).collect(),
        }
    }

    fn written(entity: &GraphEntity) -> String {
        let mut out = Vec::new();
        write_entity(&mut out, entity);
        String::from_utf8(out).unwrap()
    }

    fn error(line: &str) -> String {
        parse_line(7, line.as_bytes()).unwrap_err().0
    }

    #[test]
    fn lines_have_the_bytes_that_javascript_gives_them() {
        let odd = entity(
            "Zoë 漢字 🦀",
            "",
            &["a\tb\nc\rd\\e /f \"g\"", "\u{7}\u{8}\u{c}\u{1b}\u{7f}", "\u{2028}\u{2029}\u{a0}", "<&>"],
        );
        assert_eq!(
            written(&odd),
            "{\"type\":\"entity\",\"name\":\"Zoë 漢字 🦀\",\"entityType\":\"\",\"observations\":[\"a\\tb\\nc\\rd\\\\e /f \\\"g\\\"\",\
             \"\\u0007\\b\\f\\u001b\u{7f}\",\"\u{2028}\u{2029}\u{a0}\",\"<&>\"]}"
        );
        let mut out = Vec::new();
        let relation = GraphRelation { from: "a".into(), to: "b".into(), relation_type: "knows".into() };
        write_relation(&mut out, &relation);
        assert_eq!(out, br#"{"type":"relation","from":"a","to":"b","relationType":"knows"}"#);
        assert_eq!(parse_line(3, &out), Ok(vec![GraphLine::Relation(relation)]));
        assert_eq!(parse_line(3, written(&odd).as_bytes()), Ok(vec![GraphLine::Entity(odd)]));
    }

    #[test]
    fn what_editors_and_crashes_leave_in_a_file_is_taken() {
        for blank in ["", "\n", "  \t\r\n", "\u{feff}\r\n"] {
            assert_eq!(parse_line(1, blank.as_bytes()), Ok(Vec::new()), "{blank:?}");
        }
        let lean = br#"  {"entityType":"t","id":{"x":[1]},"name":"a","type":"entity","observations":null}"#;
        let a = GraphLine::Entity(entity("a", "t", &[]));
        assert_eq!(parse_line(2, lean), Ok(vec![a.clone()]));
        let marked = [b"\xef\xbb\xbf".as_slice(), lean, b"\r\n"].concat();
        assert_eq!(parse_line(1, &marked), Ok(vec![a.clone()]));
        let run_together =
            [lean.as_slice(), br#"{"type":"relation","from":"a","to":"b","relationType":"r"}"#].concat();
        let said = parse_line(9, &run_together).unwrap();
        assert!(said.len() == 2 && said[0] == a && matches!(said[1], GraphLine::Relation(_)));
    }

    #[test]
    fn half_a_character_becomes_the_replacement_character() {
        let line = br#"{"type":"entity","name":"\ud83e\udd80","entityType":"t","observations":["cut \ud83d off","\udc00"]}"#;
        let said = parse_line(1, line).unwrap();
        assert_eq!(said, [GraphLine::Entity(entity("🦀", "t", &["cut \u{fffd} off", "\u{fffd}"]))]);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        for (line, needle) in [
            (r#"{"type":"entity","name":"a","entityType":"t","observations":["b"}"#, "expected `,` or `]`"),
            (r#"{"type":"entity","name":"a","entityType":"t""#, "EOF while parsing"),
            (r#"{"type":"entity","name":"a"}"#, "the entity has no entityType"),
            (r#"{"type":"relation","from":"a","relationType":"t"}"#, "the relation has no to"),
            (r#"{"type":"person","name":"a"}"#, "its type is 'person'; only"),
            (r#"{"name":"a"}"#, "it has no type"),
            (r#"{"type":"entity","name":1,"entityType":"t"}"#, "expected a string"),
            (r#"{"type":"entity","name":"a","entityType":"t","observations":"b"}"#, "expected a sequence"),
            (r#"{"type":"entity","name":"a","entityType":"t","observations":["a\u0000"]}"#, "NUL character"),
            (r#"{"type":"remembrancer-archive","version":1}"#, "import it without --graph"),
            (r#"{"type":"entity","name":"a","entityType":"t"},"#, "it is no JSON object"),
            (r#"["entity","a","t"]"#, "it is no JSON object"),
            ("hello", "it is no JSON object"),
        ] {
            let error = error(line);
            assert!(
                error.starts_with("Line 7 cannot be read: ") && error.contains(needle),
                "{line}: {error}"
            );
            assert!(error.contains(&format!("It begins: {}", &line[..line.len().min(30)])), "{error}");
        }
        let long = error(&format!("{{\"type\":\"entity\u{1b}\",\"name\":\"{}", "x".repeat(5_000)));
        assert!(long.len() < 300 && long.contains("column") && !long.contains('\u{1b}'), "{long}");
        let latin = b"{\"type\":\"entity\",\"name\":\"M\xfcller\",\"entityType\":\"t\"}";
        assert!(parse_line(7, latin).unwrap_err().0.contains("not UTF-8"));
    }

    #[test]
    fn an_entity_may_have_any_number_of_observations_but_none_too_long() {
        let many = entity("a", "t", &vec!["x"; 20_000]);
        assert_eq!(parse_line(1, written(&many).as_bytes()), Ok(vec![GraphLine::Entity(many)]));
        let long = entity("a", "t", &["x", &"y".repeat(crate::graph::OBSERVATION_MAX_CHARS + 1)]);
        assert!(error(&written(&long)).contains("observations[1]"));
        let named = entity(&"n".repeat(crate::graph::NAME_MAX_BYTES + 1), "t", &[]);
        assert!(error(&written(&named)).contains("name"));
    }
}
