//! What the database says: its version, its schema, its clock, and what keeps namespaces apart in it.

use memory_language::text::counted;
use memory_store::embedded::EmbeddedPostgres;
use memory_store::health::{Examined, examine};
use memory_store::row_security::RowSecurity;
use memory_store::webhooks::DeadLetters;

use super::{Finding, doubtful, fine, wrong};
use crate::settings::Settings;
use crate::setup::Components;

/// By how much two clocks may differ, in seconds, before it is mentioned, and before it is wrong.
const CLOCK_OFF: f64 = 5.0;
const CLOCK_WRONG: f64 = 60.0;

pub(super) async fn of_database(settings: &Settings, components: &Components) -> Vec<Finding> {
    const CHECK: &str = "database";
    let examined = if let Some(url) = &settings.store.database_url {
        examine(url).await
    } else {
        let postgres = EmbeddedPostgres::new(components.postgres_bin(), components.data_dir.join("postgres"));
        if !components.data_dir.join("postgres").is_dir() || !postgres.is_running().await {
            return vec![fine(CHECK, "does not run now; the first command starts it")];
        }
        examine(&postgres.url()).await
    };
    match examined {
        Ok(examined) => of_examined(&examined),
        Err(error) => vec![wrong(CHECK, error.to_string(), "See that it runs, and its log.")],
    }
}

fn of_examined(examined: &Examined) -> Vec<Finding> {
    const CHECK: &str = "database";
    let Examined { postgres, pgvector, missing_migrations, foreign_migrations, ahead_seconds, .. } = examined;
    let vector = pgvector.as_ref().map_or("no pgvector yet".to_owned(), |v| format!("pgvector {v}"));
    let model = examined.model.as_deref().unwrap_or("no model yet");
    let detail = format!("PostgreSQL {postgres}, {vector}, {} MB, vectors of {model}", examined.bytes >> 20);
    let mut found = Vec::new();
    found.push(match (*missing_migrations, *foreign_migrations) {
        (0, 0) => fine(CHECK, detail),
        (_, foreign) if foreign > 0 => wrong(
            CHECK,
            format!("{detail}; {} of another version", counted(foreign as i64, "migration")),
            "Run the version that wrote it, or a later one.",
        ),
        (missing, _) => doubtful(
            CHECK,
            format!("{detail}; it lacks {}", counted(missing as i64, "migration")),
            "The next start of the server makes up for it.",
        ),
    });
    found.extend(examined.row_security.as_ref().map(of_row_security));
    found.extend(examined.dead_letters.iter().map(of_dead_letters));
    let off = ahead_seconds.abs();
    let way = if *ahead_seconds < 0.0 { "behind" } else { "ahead of" };
    let detail = format!("the database's is {off:.1} s {way} this machine's");
    let advice = "Set both by NTP: dates of what is remembered and leases of jobs go by the database's.";
    found.push(match off {
        _ if off > CLOCK_WRONG => wrong("clock", detail, advice),
        _ if off > CLOCK_OFF => doubtful("clock", detail, advice),
        _ => fine("clock", detail),
    });
    found
}

/// Whether the database itself keeps namespaces apart.
fn of_row_security(found: &RowSecurity) -> Finding {
    const CHECK: &str = "namespaces";
    match found {
        RowSecurity::On { role } => fine(
            CHECK,
            format!("row-level security of the database keeps them apart as well: statements run as {role}"),
        ),
        RowSecurity::Off { role, why } => doubtful(
            CHECK,
            format!("only the program keeps them apart: row-level security does not bind the role {role}"),
            *why,
        ),
    }
}

/// What a webhook could not be sent.
fn of_dead_letters(dead: &DeadLetters) -> Finding {
    let DeadLetters { namespace, webhook_id, count, error, .. } = dead;
    let why = error.as_deref().map_or_else(String::new, |error| format!("; the last: {error}"));
    let messages = counted(*count, "message");
    doubtful(
        "webhooks",
        format!("{messages} could not be sent to {webhook_id} of {namespace} and were given up{why}"),
        format!(
            "When the receiver is mended: `remembrancer --namespace {namespace} webhooks resend {webhook_id}`; where it is \
             gone, `webhooks remove {webhook_id}`."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    fn examined() -> Examined {
        Examined {
            postgres: "18.6".to_owned(),
            pgvector: Some("0.8.2".to_owned()),
            missing_migrations: 0,
            foreign_migrations: 0,
            ahead_seconds: 0.1,
            model: Some("m".to_owned()),
            bytes: 5 << 20,
            row_security: None,
            dead_letters: Vec::new(),
        }
    }

    #[test]
    fn a_database_is_judged_by_its_schema_and_its_clock() {
        let verdicts =
            |examined: &Examined| of_examined(examined).iter().map(|f| f.verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(&examined()), [Verdict::Ok, Verdict::Ok]);
        let late = Examined { ahead_seconds: -90.0, missing_migrations: 1, ..examined() };
        assert_eq!(verdicts(&late), [Verdict::Warning, Verdict::Failed]);
        let newer = Examined { ahead_seconds: 10.0, foreign_migrations: 2, ..examined() };
        assert_eq!(verdicts(&newer), [Verdict::Failed, Verdict::Warning]);
        let off = RowSecurity::Off { role: "me".to_owned(), why: "it owns the tables" };
        let unbound = Examined { row_security: Some(off), ..examined() };
        assert_eq!(verdicts(&unbound), [Verdict::Ok, Verdict::Warning, Verdict::Ok]);
    }
}
