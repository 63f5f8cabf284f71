//! Each column of the schema is archived, derived, or of no concern to an archive: one that is not assigned fails here.
//! Columns that the database generates from others are derived.

use std::collections::BTreeSet;
use std::sync::Arc;

use memory_extraction::RulesExtractor;
use memory_tests::Fixture;

use crate::archive::{exported_as, have_documents, have_graphs, import};
use crate::shorthand::{light, rows};

/// A table, and what becomes of its columns when a namespace goes out and comes in with `--events`.
pub(crate) struct Assigned {
    pub(crate) table: &'static str,
    /// They come back as they were.
    pub(crate) kept: &'static str,
    /// They come back in other terms: an id as a number, a pair by names.
    told: &'static str,
    /// Made anew from what is kept, by the import or by jobs.
    derived: &'static str,
    /// Of this database and this moment; why they stay behind is said at each table.
    operational: &'static str,
}

const fn table(table: &'static str) -> Assigned {
    Assigned { table, kept: "", told: "", derived: "", operational: "" }
}

pub(crate) const SCHEMA: &[Assigned] = &[
    Assigned {
        kept: "sha256 content",
        derived: "artifact_id char_count token_count created_at",
        operational: "namespace",
        ..table("artifact")
    },
    Assigned {
        kept: "context source source_id author role participants date title tags importance conversation_id turn_index \
               is_latest created_at extractor extractor_version extracted_at rejected_count is_extraction_stale",
        told: "revision_id artifact_id superseded_by",
        derived: "artifact_uid summary event_count passages line_of line_index line_speaker",
        // A counter of renderings, compared within one database.
        operational: "namespace rendering",
        ..table("artifact_revision")
    },
    Assigned {
        derived: "artifact_id chunk_index start_char end_char token_count",
        operational: "namespace",
        ..table("chunk")
    },
    Assigned {
        derived: "passage_id revision_id artifact_id ordinal chunk_index start_char end_char text lex lex_length is_latest \
                  observation",
        operational: "namespace",
        ..table("passage")
    },
    Assigned {
        derived: "passage_id model_id revision_id is_latest embedding",
        operational: "namespace",
        ..table("passage_embedding")
    },
    Assigned { derived: "passage_id model_id states", operational: "namespace", ..table("passage_tokens") },
    Assigned {
        kept: "category narrative event_time due_time confidence extractor extractor_version ordinal",
        told: "revision_id",
        derived: "event_id artifact_id",
        operational: "namespace created_at",
        ..table("semantic_event")
    },
    Assigned {
        kept: "ordinal start_char end_char quote",
        told: "event_id revision_id",
        derived: "artifact_id",
        operational: "namespace",
        ..table("event_evidence")
    },
    Assigned {
        kept: "name normalised entity_type distinguisher",
        told: "entity_id merged_into",
        derived: "canonical_id",
        operational: "namespace created_at",
        ..table("entity")
    },
    Assigned {
        kept: "alias normalised",
        told: "entity_id revision_id",
        operational: "namespace",
        ..table("entity_alias")
    },
    Assigned {
        kept: "start_char end_char surface",
        told: "entity_id revision_id",
        derived: "artifact_id",
        operational: "namespace",
        ..table("entity_mention")
    },
    Assigned { derived: "entity_type key entity_id", operational: "namespace", ..table("entity_key") },
    Assigned {
        kept: "score reasons state",
        told: "low_id high_id former_state",
        operational: "namespace created_at",
        ..table("entity_candidate")
    },
    Assigned {
        // None is left where everything has been extracted.
        told: "kind first_terms second_terms were_rejected first_revisions second_revisions",
        derived: "decision_id pair_key signs",
        operational: "namespace",
        ..table("entity_decision")
    },
    Assigned {
        kept: "role category occurred_at",
        told: "entity_id event_id",
        operational: "namespace",
        ..table("event_actor")
    },
    Assigned {
        kept: "category occurred_at",
        told: "entity_id event_id",
        operational: "namespace",
        ..table("event_subject")
    },
    Assigned {
        derived: "entity_id is_promise occurred_at event_id ending matter revision_id start_char said_at conversation_id \
                  turn_index",
        operational: "namespace",
        ..table("owner_event")
    },
    Assigned {
        derived: "commitment_id closing_id kind score occurred_at closing_revision",
        operational: "namespace",
        ..table("event_link")
    },
    // By the tags of the texts.
    Assigned {
        derived: "artifact_id start_char end_char closing_revision closing_artifact kind occurred_at",
        operational: "namespace",
        ..table("told_ending")
    },
    // Found in the texts again.
    Assigned {
        derived: "directive_id revision_id start_char end_char quote condition is_general is_permission in_conversation \
                  by_somebody is_circumstance model_id embedding bearing_version bearing",
        operational: "namespace",
        ..table("directive")
    },
    Assigned { derived: "earlier later", operational: "namespace", ..table("directive_replacement") },
    Assigned {
        kept: "name created_at file_path",
        derived: "thread_id entities",
        // Versions count the changes in this database, and cursors are of it; what the file last had, or that it is gone, is
        // found when it is used again.
        operational: "namespace version file_sha256 file_version file_gone_since cursor_key",
        ..table("graph_thread")
    },
    Assigned {
        kept: "name_key name entity_type folded_name folded_type confidence importance is_root created_at updated_at",
        told: "thread_id entity_id",
        operational: "namespace",
        ..table("graph_entity")
    },
    Assigned {
        kept: "relation_key from_key to_key from_name to_name relation_type importance created_at",
        told: "thread_id relation_id",
        derived: "from_id to_id",
        operational: "namespace",
        ..table("graph_relation")
    },
    Assigned {
        kept: "version is_current handle content_key content folded confidence importance created_at",
        told: "thread_id entity_id chain_id",
        operational: "namespace",
        ..table("graph_observation")
    },
    // What waits to be done is queued anew by the import; what was done, failed or was cancelled says nothing of the texts. That
    // a text is to be extracted again goes along with its extraction.
    Assigned {
        operational: "namespace job_id kind revision_id conversation_id thread_id status attempts run_at lease_token leased_until \
                      last_error_code last_error_message last_error_at worker_id created_at finished_at lane",
        ..table("event_jobs")
    },
    // Of the database, not of a namespace: its models, its workers, and its mirror.
    Assigned { operational: "model_id name dimension is_active", ..table("embedding_model") },
    // Keys and what they did belong to an installation, not to a namespace that goes elsewhere.
    Assigned {
        operational: "key_id secret_sha256 old_sha256 old_until name role namespaces toolsets created_at expires_at revoked_at \
                      last_used_at",
        ..table("access_key")
    },
    Assigned { operational: "is_only hash set_at", ..table("admin_password") },
    Assigned {
        operational: "client_id name redirect_uris is_of_operator created_at",
        ..table("oauth_client")
    },
    Assigned {
        operational: "consent_id client_id name role namespaces toolsets resource created_at revoked_at last_used_at",
        ..table("oauth_consent")
    },
    Assigned {
        operational: "sha256 consent_id kind expires_at used_at redirect_uri challenge",
        ..table("oauth_token")
    },
    Assigned { operational: "sha256 request expires_at", ..table("oauth_ticket") },
    // What processes have to read again.
    Assigned { operational: "namespace at revisions entities noted_at", ..table("search_change") },
    Assigned { operational: "audit_id at key_id who namespace action ids outcome", ..table("audit_entry") },
    Assigned { operational: "worker_id started_at last_seen", ..table("event_worker") },
    // Who is told what happens here is of this installation; what has happened elsewhere is not told again.
    Assigned { operational: "namespace since streamed_at last_seq dropped_to", ..table("feed_namespace") },
    Assigned {
        operational: "namespace entry_id seq message_id kind at revision_id event_id job_id details",
        ..table("feed_entry")
    },
    Assigned { operational: "namespace event_id kind due_time", ..table("feed_reminder") },
    Assigned {
        operational: "namespace webhook_id url kinds secret may_be_private created_at failures failing_since rest_until",
        ..table("webhook")
    },
    Assigned {
        operational: "namespace delivery_id webhook_id entry_id state attempts due_at lease_token leased_until status error \
                      created_at ended_at",
        ..table("webhook_delivery")
    },
    Assigned { operational: "is_only store_id", ..table("vector_store") },
    Assigned {
        operational: "mirror_id model_id collection alias dimension state filled_to last_rev retired_at audited_at created_at",
        ..table("vector_mirror")
    },
    Assigned {
        operational: "mirror_id passage_id namespace queued_at due_at lease_token attempts is_changed is_unclear is_confirming \
                      last_error",
        ..table("vector_outbox")
    },
    Assigned {
        operational: "version description installed_on success checksum execution_time",
        ..table("_sqlx_migrations")
    },
];

#[tokio::test]
async fn every_column_is_archived_or_somebody_has_said_why_not() {
    let f = light(Arc::new(RulesExtractor::new())).await;
    let columns = rows(
        &f,
        "select c.relname || '.' || a.attname
         from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
         join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
         where c.relkind in ('r', 'p')",
    )
    .await;
    let columns: BTreeSet<String> = columns.into_iter().collect();
    let mut assigned = BTreeSet::new();
    for one in SCHEMA {
        for column in [one.kept, one.told, one.derived, one.operational].join(" ").split_whitespace() {
            let is_new = assigned.insert(format!("{}.{column}", one.table));
            assert!(is_new, "{}.{column} is assigned twice", one.table);
        }
    }
    let unassigned: Vec<&String> = columns.difference(&assigned).collect();
    assert!(
        unassigned.is_empty(),
        "{unassigned:?}: say in SCHEMA what becomes of them in an archive, and see that it does"
    );
}

#[tokio::test]
async fn what_is_said_to_be_kept_comes_back_as_it_was() {
    let f = light(Arc::new(RulesExtractor::new())).await;
    have_documents(&f).await;
    have_graphs(&f).await;
    f.drain().await;
    let g = light(Arc::new(RulesExtractor::new())).await;
    import(&g, &exported_as(&f.memory, &f.ns, true).await).await;
    let mut compared = 0;
    for one in SCHEMA.iter().filter(|one| !one.kept.is_empty()) {
        let columns: Vec<String> =
            one.kept.split_whitespace().map(|column| format!("t.\"{column}\"")).collect();
        let statement = format!("select row({})::text from {} t order by 1", columns.join(", "), one.table);
        let (before, after) = (all(&f, &statement).await, all(&g, &statement).await);
        assert_eq!(after, before, "{}", one.table);
        compared += before.len();
    }
    assert!(compared > 50, "only {compared} rows were compared");
}

async fn all(f: &Fixture, statement: &str) -> Vec<String> {
    let statement = sqlx::AssertSqlSafe(statement.to_owned());
    sqlx::query_scalar(statement).fetch_all(&mut f.sql().await).await.expect("it lists")
}
