//! The schema: whether it is the one that this program was made for, which role may migrate it, and what a role that owns
//! nothing of it needs to work with it.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use sqlx::{AssertSqlSafe, Connection, Row};

use crate::migrations::MIGRATOR;
use crate::{Conn, Store, StoreError, pool};

/// How long one migration waits for another, and how often it looks.
const TURN_TIMEOUT: Duration = Duration::from_secs(3600);
const TURN_INTERVAL: Duration = Duration::from_millis(100);

/// A role that servers and workers log in as.
#[derive(Clone)]
pub struct RuntimeRole {
    pub name: String,
    /// With it the role is made, or gets this password.
    pub password: Option<String>,
}

/// What a migration did.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Migrated {
    /// The version that was found; `None` where there was none.
    pub from: Option<i64>,
    pub to: i64,
    /// The role that may work with it from now on.
    pub granted_to: Option<String>,
}

/// The schema of the database, compared with the one that this program knows.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SchemaState {
    Current,
    Behind {
        at: Option<i64>,
    },
    /// Brought there by a later version of this program.
    Ahead {
        at: i64,
    },
}

/// The version that this program knows.
pub fn known_version() -> i64 {
    MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// Brings the schema to the version that this program knows. A role that may not do that waits for one that does.
pub(crate) async fn ensure(conn: &mut Conn) -> Result<(), StoreError> {
    let at = match state_of(conn).await? {
        SchemaState::Current => return Ok(()),
        SchemaState::Ahead { at } => return Err(too_new(at)),
        SchemaState::Behind { at } => at,
    };
    if !may_change(conn).await? {
        return Err(StoreError::Unprepared(unprepared(conn, at).await?));
    }
    migrate(conn).await
}

async fn migrate(conn: &mut Conn) -> Result<(), StoreError> {
    MIGRATOR.run_direct(None, conn, false).await.map_err(|error| match error {
        sqlx::migrate::MigrateError::Execute(error)
        | sqlx::migrate::MigrateError::ExecuteMigration(error, _) => StoreError::from(error),
        other => unusable(&other.to_string()),
    })
}

fn unusable(why: &str) -> StoreError {
    StoreError::Unsuitable(format!(
        "the database has a schema that this version cannot use ({why}); run the version that wrote it, or another database"
    ))
}

fn too_new(at: i64) -> StoreError {
    unusable(&format!("it is of version {at}, this program knows it up to version {}", known_version()))
}

async fn state_of(conn: &mut Conn) -> Result<SchemaState, StoreError> {
    let is_there: bool = sqlx::query_scalar("select to_regclass('_sqlx_migrations') is not null")
        .fetch_one(&mut *conn)
        .await?;
    if !is_there {
        return Ok(SchemaState::Behind { at: None });
    }
    let is_readable: bool = sqlx::query_scalar("select has_table_privilege('_sqlx_migrations', 'select')")
        .fetch_one(&mut *conn)
        .await?;
    if !is_readable {
        return Err(StoreError::Unprepared(unprepared(conn, None).await?));
    }
    let applied: Vec<(i64, Vec<u8>, bool)> =
        sqlx::query_as("select version, checksum, success from _sqlx_migrations order by version")
            .fetch_all(conn)
            .await?;
    let at = applied.last().map(|(version, ..)| *version);
    if let Some(at) = at.filter(|at| *at > known_version()) {
        return Ok(SchemaState::Ahead { at });
    }
    let is_applied = |version: i64, checksum: &[u8]| {
        applied.iter().any(|(at, sum, success)| *at == version && *success && sum == checksum)
    };
    // What was applied and is not known any more, or differs, is reported by the migrator.
    let is_current = applied.len() == MIGRATOR.iter().count()
        && MIGRATOR.iter().all(|migration| is_applied(migration.version, &migration.checksum));
    Ok(if is_current { SchemaState::Current } else { SchemaState::Behind { at } })
}

/// Refuses a schema that is not the one that this program knows; changes nothing.
pub(crate) async fn check(conn: &mut Conn) -> Result<(), StoreError> {
    match state_of(conn).await? {
        SchemaState::Current => Ok(()),
        SchemaState::Ahead { at } => Err(too_new(at)),
        SchemaState::Behind { at } => Err(StoreError::Unsuitable(format!(
            "the database's schema is of version {}, and this program needs version {}; start the server of this version, which \
             changes it, and try again",
            at.unwrap_or(0),
            known_version()
        ))),
    }
}

/// Whether the role owns the schema, or may make one.
async fn may_change(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar(
        "select coalesce(
             (select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass('_sqlx_migrations')),
             has_schema_privilege(current_schema(), 'create'),
             false)",
    )
    .fetch_one(conn)
    .await?)
}

/// Whether the role owns the tables, and so may change their indexes itself.
pub(crate) async fn is_owner(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar(
        "select pg_has_role(relowner, 'usage') from pg_class where oid = 'passage_embedding'::regclass",
    )
    .fetch_one(conn)
    .await?)
}

async fn unprepared(conn: &mut Conn, at: Option<i64>) -> Result<String, StoreError> {
    let role: String = sqlx::query_scalar("select current_user::text").fetch_one(conn).await?;
    let wanted = known_version();
    let found = at.map_or_else(
        || format!("the database has no schema that the role '{role}' can read"),
        |at| format!("the database's schema is of version {at}, this program needs version {wanted}, and the role '{role}' does not own it"),
    );
    Ok(format!(
        "{found}; run `remembrancer migrate --grant-to {role}` with the DATABASE_URL of the role that owns the schema"
    ))
}

impl Store {
    /// Brings the schema to the version that this program knows, as the role that owns it, and lets another role work with
    /// it. Several at once follow one another.
    pub fn migrate<'a>(
        url: &'a str,
        role: Option<&'a RuntimeRole>,
    ) -> BoxFuture<'a, Result<Migrated, StoreError>> {
        Box::pin(async move {
            let (_, mut conn) = pool::first_connection(url).await?;
            take_turn(&mut conn).await?;
            let from = match state_of(&mut conn).await? {
                SchemaState::Ahead { at } => return Err(too_new(at)),
                SchemaState::Behind { at } => at,
                SchemaState::Current => Some(known_version()),
            };
            ensure(&mut conn).await?;
            if !is_owner(&mut conn).await? {
                return Err(StoreError::Unprepared(unprepared(&mut conn, from).await?));
            }
            // A role that does not own the tables could not make it when the first mirror needs it.
            crate::vector::mirrors::ensure_order(&mut conn).await?;
            if let Some(role) = role {
                let mut tx = conn.begin().await?;
                admit(&mut tx, role).await?;
                tx.commit().await?;
            }
            conn.close().await?;
            Ok(Migrated { from, to: known_version(), granted_to: role.map(|role| role.name.clone()) })
        })
    }
}

/// Waits until no other process migrates. Not within a statement: an index that another makes meanwhile would wait for it.
async fn take_turn(conn: &mut Conn) -> Result<(), StoreError> {
    let deadline = Instant::now() + TURN_TIMEOUT;
    while Instant::now() < deadline {
        let is_ours: bool =
            sqlx::query_scalar("select pg_try_advisory_lock(hashtextextended('remembrancer migrate', 2))")
                .fetch_one(&mut *conn)
                .await?;
        if is_ours {
            return Ok(());
        }
        tokio::time::sleep(TURN_INTERVAL).await;
    }
    Err(StoreError::Unanswered(format!(
        "another `remembrancer migrate` has been at work for {} minutes; see what it does (select * from pg_stat_activity)",
        TURN_TIMEOUT.as_secs() / 60
    )))
}

/// Makes the role where a password says that it is ours to make, and grants it what servers and workers need: to read and
/// write rows, and to call what the schema offers. Nothing that would let it change the schema.
async fn admit(conn: &mut Conn, role: &RuntimeRole) -> Result<(), StoreError> {
    let name = &role.name;
    let found = sqlx::query(
        "select current_user::text = $1 as is_us, r.rolname is not null as is_there,
                coalesce(r.rolsuper or r.rolbypassrls, false) as is_super
         from (select) one left join pg_roles r on r.rolname = $1",
    )
    .bind(name)
    .fetch_one(&mut *conn)
    .await?;
    let refused = |why: &str| Err(StoreError::Unsuitable(format!("--grant-to {name}: {why}")));
    if found.try_get("is_us")? {
        return refused("this role owns the schema; name the role that servers and workers log in as");
    }
    if found.try_get("is_super")? {
        return refused(
            "this role is a superuser or has BYPASSRLS, so that nothing would hold it back; name another",
        );
    }
    let is_there: bool = found.try_get("is_there")?;
    match &role.password {
        None if !is_there => {
            return refused(
                "there is no such role; make it (create role … login), or set REMEMBRANCER_GRANT_PASSWORD_FILE to have it made",
            );
        }
        None => {}
        Some(password) => {
            let verb = if is_there { "alter" } else { "create" };
            // In place of the password, which would be in the log of a server that logs its statements.
            let verifier = crate::scram::verifier(password);
            let statement: String =
                sqlx::query_scalar("select format($1 || ' role %I login password %L', $2, $3)")
                    .bind(verb)
                    .bind(name)
                    .bind(verifier)
                    .fetch_one(&mut *conn)
                    .await?;
            execute(conn, statement).await?;
        }
    }
    grant(conn, name).await
}

/// Grants what reading and writing rows takes, in a transaction.
pub(crate) async fn grant(conn: &mut Conn, role: &str) -> Result<(), StoreError> {
    // Two at once would write the same rows of the catalogue.
    sqlx::query("select pg_advisory_xact_lock(hashtextextended('remembrancer grants', 2))")
        .execute(&mut *conn)
        .await?;
    let grants: Vec<String> =
        sqlx::query_scalar(include_str!("sql/grants.sql")).bind(role).fetch_all(&mut *conn).await?;
    for statement in grants {
        execute(conn, statement).await?;
    }
    Ok(())
}

/// A statement that the database has put together, names and texts quoted by it.
async fn execute(conn: &mut Conn, statement: String) -> Result<(), StoreError> {
    sqlx::query(AssertSqlSafe(statement)).execute(conn).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_among_what_can_be_printed() {
        fn is_debug<T: std::fmt::Debug>(_: &T) {}
        is_debug(&Migrated { from: None, to: known_version(), granted_to: None });
        assert!(known_version() >= 17);
    }
}
