//! The archive of a namespace: a line of JSON for each row that cannot be derived from others, in the order in
//! which the rows came into being.
//!
//! Lines lean on lines before them: a revision on its artifact, what is in a graph on its thread, an
//! observation on its entity. What is made from these, such as passages, indexes and vectors, is made anew;
//! so are events, unless the archive was asked to have them. Decisions about entities are included.

mod decision;
mod extraction;
mod graph;
mod text;

use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::graph_jsonl::{broken, objects, syntax};

pub use decision::{ArchivedDoubt, ArchivedMerge, ArchivedRejection, ArchivedTerms, SIGNS_MAX};
pub use extraction::{ArchivedActor, ArchivedEvent, ArchivedEvidence, ArchivedExtraction, ArchivedName};
pub use graph::{ArchivedEntity, ArchivedObservation, ArchivedRelation, ArchivedThread};
pub use text::{ArchivedArtifact, ArchivedRevision};

/// The version of the format that is written.
pub const ARCHIVE_VERSION: u32 = 2;
/// The oldest that is read: it has no decisions about entities.
const ARCHIVE_VERSION_MIN: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ArchiveLine {
    #[serde(rename = "remembrancer-archive")]
    Header(Header),
    Artifact(ArchivedArtifact),
    Revision(Box<ArchivedRevision>),
    Extraction(ArchivedExtraction),
    EntityDoubt(Box<ArchivedDoubt>),
    EntityRejection(Box<ArchivedRejection>),
    EntityMerge(Box<ArchivedMerge>),
    Thread(ArchivedThread),
    GraphEntity(ArchivedEntity),
    Observation(ArchivedObservation),
    GraphRelation(ArchivedRelation),
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    pub version: u32,
}

/// Appends the line with its line feed.
pub fn write_line(out: &mut Vec<u8>, line: &ArchiveLine) {
    // Strings and numbers written to memory: there is nothing that could fail.
    let _ = serde_json::to_writer(&mut *out, line);
    out.push(b'\n');
}

/// Reads the line of this number, from 1; `None` when it is blank.
pub fn parse_line(number: u64, line: &[u8]) -> Result<Option<ArchiveLine>, Invalid> {
    let text = objects(number, line);
    if text.is_empty() {
        return Ok(None);
    }
    let said = match serde_json::from_slice::<ArchiveLine>(text) {
        Ok(said) => said,
        Err(_) if number == 1 => return Err(not_an_archive(text)),
        Err(error) => return Err(broken(number, line, &syntax(&error))),
    };
    said.check().map_err(|error| broken(number, line, &error.0))?;
    Ok(Some(said))
}

/// Of a file that is something else there is no line to mend.
fn not_an_archive(text: &[u8]) -> Invalid {
    Invalid::new(match crate::graph_jsonl::parse_line(0, text) {
        Ok(_) => "This is a knowledge graph, not an archive: import it with --graph.".to_owned(),
        Err(_) => format!(
            "This is no archive: an archive begins with {{\"type\":\"remembrancer-archive\",\"version\":{ARCHIVE_VERSION}}}. \
             Import a knowledge graph with --graph, and what another program wrote with --from FORMAT."
        ),
    })
}

impl ArchiveLine {
    fn check(&self) -> Result<(), Invalid> {
        match self {
            // Revisions and extractions are checked with the contents that they refer to.
            Self::Header(Header { version: ARCHIVE_VERSION_MIN..=ARCHIVE_VERSION })
            | Self::Revision(_)
            | Self::Extraction(_) => Ok(()),
            Self::Header(Header { version }) => Err(Invalid::new(format!(
                "archive version {version} is not known here, only {ARCHIVE_VERSION_MIN} to {ARCHIVE_VERSION}; \
                 use the release that wrote it"
            ))),
            Self::EntityDoubt(doubt) => doubt.check(),
            Self::EntityRejection(rejection) => rejection.check(),
            Self::EntityMerge(merge) => merge.check(),
            Self::Artifact(artifact) => artifact.check(),
            Self::Thread(thread) => thread.scope().map(|_| ()),
            Self::GraphEntity(entity) => entity.check(),
            Self::Observation(observation) => observation.check(),
            Self::GraphRelation(relation) => relation.check(),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::artifact::{Draft, NewArtifact};

    fn read(line: &str) -> Result<ArchiveLine, String> {
        parse_line(5, line.as_bytes()).map(|said| said.expect("a line")).map_err(|error| error.0)
    }

    const LINES: [&str; 13] = [
        r#"{"type":"remembrancer-archive","version":2}"#,
        r#"{"type":"artifact","sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","content":"hello"}"#,
        r#"{"type":"revision","artifact":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","context":"note","importance":0.7,"created_at":"2026-03-01T10:00:00.123456Z","latest":true}"#,
        r#"{"type":"revision","artifact":"2cf2","context":"conversation","source":"s","source_id":"i","author":"Ann","role":"user","participants":["Bob"],"date":"2026-03-01T00:00:00Z","title":"t","tags":["x","y"],"importance":0.1,"conversation_id":"c","turn_index":0,"created_at":"2026-03-01T10:00:00Z","latest":false,"supersedes":[1,2],"superseded_by":3}"#,
        r#"{"type":"extraction","revision":1,"extractor":"rules","extractor_version":3,"extracted_at":"2026-03-01T10:00:00Z","rejected":0,"entities":[{"name":"Ann","entity_type":"person","aliases":["Ann"],"mentions":[[0,3]]},{"name":"Apollo","entity_type":"project"}],"events":[{"category":"Decision","narrative":"Ann decided.","event_time":"2026-03-01T10:00:00Z","due_time":"2026-03-02T10:00:00Z","confidence":0.9,"subject":1,"actors":[{"entity":0,"role":"owner"}],"evidence":[{"start":0,"end":5},{"revision":2,"start":1,"end":2}]},{"category":"Change","narrative":"x","confidence":0.5,"evidence":[{"start":0,"end":5}]}]}"#,
        r#"{"type":"thread","id":"default","created_at":"2026-03-01T10:00:00Z"}"#,
        r#"{"type":"thread","file":"/home/ann/memory.jsonl","created_at":"2026-03-01T10:00:00Z"}"#,
        r#"{"type":"graph_entity","name":"Ann","entity_type":"person","confidence":1.0,"importance":0.5,"is_root":false,"created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-02T10:00:00.5Z"}"#,
        r#"{"type":"observation","id":"obs_00000000000000ff","chain":1,"version":2,"current":true,"content":"kind","confidence":0.9,"importance":0.3,"created_at":"2026-03-01T10:00:00Z"}"#,
        r#"{"type":"graph_relation","from":"Ann","to":"Bob","relation_type":"knows","importance":0.7,"created_at":"2026-03-01T10:00:00Z"}"#,
        r#"{"type":"entity_doubt","first":{"entity_type":"person","name":"ann"},"second":{"entity_type":"person","name":"ann lee"},"score":0.5,"reasons":["a first name"]}"#,
        r#"{"type":"entity_rejection","first":{"entity_type":"person","name":"ann","revisions":[1,4]},"second":{"entity_type":"person","name":"ann","distinguisher":"ann@x.org","addresses":["ann@x.org"]}}"#,
        r#"{"type":"entity_merge","entity":{"entity_type":"org","name":"acme"},"into":{"entity_type":"org","name":"acme inc"},"were_rejected":true}"#,
    ];

    #[test]
    fn every_line_is_written_as_it_was_read() {
        for line in LINES {
            let mut out = Vec::new();
            write_line(&mut out, &read(line).unwrap());
            assert_eq!(String::from_utf8(out).unwrap(), format!("{line}\n"));
        }
        assert_eq!(parse_line(2, b" \r\n"), Ok(None));
    }

    #[test]
    fn an_archive_of_the_version_before_is_read() {
        assert!(read(&LINES[0].replace(":2}", ":1}")).is_ok());
    }

    #[test]
    fn a_line_that_is_not_of_an_archive_is_named_with_what_to_do() {
        for (line, needle) in [
            (LINES[0].replace(":2}", ":3}"), "archive version 3 is not known here"),
            (LINES[1].replace("hello", "hallo"), "its content is not what was written"),
            (LINES[2].replace("\"latest\"", "\"newest\""), "unknown field `newest`"),
            (LINES[5].replace("default", "file:/x"), "Invalid threadId"),
            (LINES[5].replace("id", "file").replace("default", "\\u0000"), "NUL"),
            (LINES[5].replace("\"id\":\"default\",", ""), "an id or a file"),
            (LINES[7].replace("\"confidence\":1.0", "\"confidence\":1.5"), "Invalid confidence 1.5"),
            (LINES[8].replace("obs_", "obs-"), "Invalid observation id"),
            (LINES[8].replace("\"version\":2", "\"version\":0"), "counted from 1"),
            (LINES[9].replace("Bob", "\\u0000"), "Invalid to: it has a NUL"),
            (LINES[10].replace("ann lee", "ann"), "'ann' is named twice"),
            (LINES[10].replace("0.5", "1.5"), "Invalid score 1.5"),
            (LINES[11].replace("[\"ann@x.org\"]", "[\"ann\"]"), "'ann' is no e-mail address"),
            (LINES[12].replace("acme inc", " - "), "' - ' is no name"),
            (LINES[12].replace("\"org\"", "\"firm\""), "'firm' is no entity type"),
            (r#"{"type":"episode"}"#.to_owned(), "unknown variant `episode`"),
            (format!("{0}{0}", LINES[0]), "trailing characters"),
            (LINES[9][..50].to_owned(), "EOF while parsing"),
        ] {
            let error = read(&line).unwrap_err();
            assert!(error.starts_with("Line 5 cannot be read: ") && error.contains(needle), "{error}");
        }
        for (line, needle) in [
            (r#"{"type":"entity","name":"a","entityType":"t"}"#, "import it with --graph"),
            ("hello", "an archive begins with"),
        ] {
            let error = parse_line(1, line.as_bytes()).unwrap_err().0;
            assert!(error.contains(needle) && !error.contains("mend"), "{error}");
        }
    }

    #[test]
    fn a_revision_comes_back_as_it_was_stored() {
        let stored = NewArtifact::new(Draft {
            content: "hello".into(),
            context: Some("conversation".into()),
            source: Some("s".into()),
            source_id: Some("i".into()),
            importance: Some(0.1),
            title: Some("t".into()),
            author: Some("Ann".into()),
            participants: vec!["Bob".into()],
            date: Some("2026-03-01T10:00:00.123456+01:00".into()),
            conversation_id: Some("c".into()),
            turn_index: Some(3),
            role: Some("assistant".into()),
            tags: vec!["x".into()],
        })
        .unwrap();
        let archived = ArchivedRevision::new(
            &stored.hash,
            stored.meta.clone(),
            Timestamp::UNIX_EPOCH,
            true,
            vec![],
            None,
        );
        let mut line = Vec::new();
        write_line(&mut line, &ArchiveLine::Revision(Box::new(archived)));
        let Some(ArchiveLine::Revision(read)) = parse_line(3, &line).unwrap() else { panic!("a revision") };
        assert_eq!(read.with_content("hello".into()), Ok(stored));
    }
}
