//! What programs are told of: the kinds of what happens, the message that says so, and when a webhook that failed is tried again.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::closed_set::closed_set;
use crate::id::{JobId, Namespace};

closed_set! {
    /// What has happened.
    FeedKind {
        TextRemembered = "text.remembered",
        TextSuperseded = "text.superseded",
        EventExtracted = "event.extracted",
        CommitmentDue = "commitment.due",
        CommitmentOverdue = "commitment.overdue",
        FactSuperseded = "fact.superseded",
        JobFailed = "job.failed",
    }
}

/// How long an open commitment is reported as due before it is.
pub const DUE_AHEAD_HOURS: i32 = 24;
/// A message that was not taken is sent again after these waits; after the last it is dead.
pub const RETRY_WAITS: [Duration; 9] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_mins(5),
    Duration::from_mins(30),
    Duration::from_hours(1),
    Duration::from_hours(3),
    Duration::from_hours(6),
    Duration::from_hours(8),
    Duration::from_hours(10),
];

/// Something that has happened, as far as it is told: ids, and what a text is called.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedEntry {
    pub namespace: Namespace,
    /// Its number in the namespace.
    pub seq: i64,
    /// The same in every message about it.
    pub message_id: String,
    pub kind: FeedKind,
    pub at: Timestamp,
    pub text: Option<FeedText>,
    pub event_id: Option<String>,
    pub job_id: Option<JobId>,
    /// What else belongs to the kind: no content.
    pub details: Map<String, Value>,
}

/// The text that an entry is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedText {
    pub artifact_id: String,
    pub title: Option<String>,
    pub context: String,
    pub source: Option<String>,
    pub source_id: Option<String>,
    pub conversation_id: Option<String>,
    pub turn_index: Option<i32>,
}

impl FeedEntry {
    /// The message in the form of Standard Webhooks: type, time, data. What there is none of is left out.
    pub fn message(&self) -> Value {
        let mut data = Map::new();
        data.insert("namespace".to_owned(), json!(self.namespace.as_str()));
        if let Some(text) = &self.text {
            data.extend([
                ("artifact_id".to_owned(), json!(text.artifact_id)),
                ("title".to_owned(), json!(text.title)),
                ("context".to_owned(), json!(text.context)),
                ("source".to_owned(), json!(text.source)),
                ("source_id".to_owned(), json!(text.source_id)),
                ("conversation_id".to_owned(), json!(text.conversation_id)),
                ("turn_index".to_owned(), json!(text.turn_index)),
            ]);
        }
        data.insert("event_id".to_owned(), json!(self.event_id));
        data.insert("job_id".to_owned(), json!(self.job_id.map(|id| id.to_string())));
        data.extend(self.details.clone());
        data.retain(|_, value| !value.is_null());
        json!({ "type": self.kind.as_str(), "timestamp": self.at.to_string(), "data": data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_happened_to_what_and_leaves_out_what_there_is_none_of() {
        let entry = FeedEntry {
            namespace: Namespace::new("work").expect("a name"),
            seq: 3,
            message_id: "msg_1".to_owned(),
            kind: FeedKind::JobFailed,
            at: Timestamp::UNIX_EPOCH,
            text: None,
            event_id: None,
            job_id: Some(JobId(7)),
            details: Map::from_iter([
                ("code".to_owned(), json!("INTERNAL")),
                ("artifact_id".to_owned(), Value::Null),
            ]),
        };
        let expected = json!({
            "type": "job.failed", "timestamp": "1970-01-01T00:00:00Z",
            "data": { "namespace": "work", "job_id": "job_7", "code": "INTERNAL" },
        });
        assert_eq!(entry.message(), expected);
    }

    #[test]
    fn a_message_is_tried_for_more_than_a_day() {
        let all: Duration = RETRY_WAITS.iter().sum();
        assert!(all > Duration::from_hours(24) && RETRY_WAITS.is_sorted(), "{all:?}");
    }
}
