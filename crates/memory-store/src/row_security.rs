//! The wall between namespaces that the database holds itself: policies on the tables, which bind every role that does not own
//! them, and the setting by which a connection says what it is about (decision 23).

use std::time::{Duration, Instant};

use memory_core::id::Namespace;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

use crate::schema::{self, is_owner};
use crate::{Conn, StoreError};

/// The role that statements run as where the role of the address owns the tables. It owns nothing.
pub const RUNTIME_ROLE: &str = "remembrancer_runtime";

/// How long a running server may take to read its rules again, and how often it is tried.
const RULES_TIMEOUT: Duration = Duration::from_secs(10);
const RULES_INTERVAL: Duration = Duration::from_millis(50);

/// What the statements of a connection may see and write.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reach<'a> {
    Within(&'a Namespace),
    /// All namespaces, and what belongs to none.
    Across,
}

impl Reach<'_> {
    /// The statement by which a connection says so. The name of a namespace is made of letters, digits and `._-` only.
    pub(crate) fn session(self) -> String {
        format!("set remembrancer.namespace = '{}'", self.value())
    }

    /// The same for the rest of a transaction.
    pub(crate) fn local(self) -> String {
        format!("set local remembrancer.namespace = '{}'", self.value())
    }

    /// What the setting is then.
    pub(crate) fn value(&self) -> &str {
        match self {
            Self::Within(ns) => ns.as_str(),
            Self::Across => "*",
        }
    }
}

/// Whether the policies bind the role that statements run as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowSecurity {
    On { role: String },
    Off { role: String, why: &'static str },
}

/// Of the role that the connection runs statements as; the schema is there.
pub(crate) async fn of(conn: &mut Conn) -> Result<RowSecurity, StoreError> {
    let row = sqlx::query(
        "select r.rolname::text as role, row_security_active('artifact') as is_bound, r.rolsuper or r.rolbypassrls as is_exempt
         from pg_roles r where r.rolname = current_user",
    )
    .fetch_one(conn)
    .await?;
    let role = row.try_get("role")?;
    if row.try_get("is_bound")? {
        return Ok(RowSecurity::On { role });
    }
    let why = if row.try_get("is_exempt")? {
        "it is a superuser or has BYPASSRLS"
    } else {
        "it owns the tables; run `remembrancer migrate --grant-to ROLE` as this role, and give servers and workers a DATABASE_URL of ROLE"
    };
    Ok(RowSecurity::Off { role, why })
}

/// Of the role that a process runs its statements as when it logs in as this connection does.
pub(crate) async fn of_process(conn: &mut Conn) -> Result<RowSecurity, StoreError> {
    if is_superuser(conn).await? {
        return Ok(RowSecurity::On { role: RUNTIME_ROLE.to_owned() });
    }
    of(conn).await
}

async fn is_superuser(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar("select rolsuper from pg_roles where rolname = current_user")
        .fetch_one(conn)
        .await?)
}

/// The login with which statements run as a role that owns nothing, where the role of the address owns the tables and may hand
/// its statements to another.
pub(crate) async fn lower(
    conn: &mut Conn,
    login: &PgConnectOptions,
) -> Result<Option<PgConnectOptions>, StoreError> {
    // Any other owner would have to be a member of the role, and so could whoever may do the same in another database of the server.
    if !is_superuser(conn).await? || !prepare(conn, false).await? {
        return Ok(None);
    }
    Ok(Some(login.clone().options([("role", RUNTIME_ROLE)])))
}

/// The same in the embedded server, which lets this process log in as the other role: what was logged in so cannot become the
/// owner again.
pub(crate) async fn lower_embedded(
    conn: &mut Conn,
    login: &PgConnectOptions,
) -> Result<Option<PgConnectOptions>, StoreError> {
    if !prepare(conn, true).await? {
        return Ok(None);
    }
    let lowered = login.clone().username(RUNTIME_ROLE);
    let deadline = Instant::now() + RULES_TIMEOUT;
    loop {
        match lowered.connect().await {
            Ok(first) => {
                let _ = first.close().await;
                return Ok(Some(lowered));
            }
            // A server that ran already was given the rules that admit it, and is still to read them.
            Err(sqlx::Error::Database(refusal))
                if refusal.code().as_deref() == Some("28000") && Instant::now() < deadline =>
            {
                tokio::time::sleep(RULES_INTERVAL).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Makes the role, and grants it what it needs of the schema, as far as that was not done.
async fn prepare(conn: &mut Conn, may_log_in: bool) -> Result<bool, StoreError> {
    if !is_owner(conn).await? {
        return Ok(false);
    }
    make_role(conn, may_log_in).await?;
    if lacks_rights(conn).await? {
        let mut tx = conn.begin().await?;
        schema::grant(&mut tx, RUNTIME_ROLE).await?;
        tx.commit().await?;
    }
    Ok(true)
}

/// Roles are the whole server's: processes of other databases may make it at the same moment.
pub(crate) async fn make_role(conn: &mut Conn, may_log_in: bool) -> Result<(), StoreError> {
    let may: Option<bool> = sqlx::query_scalar("select rolcanlogin from pg_roles where rolname = $1")
        .bind(RUNTIME_ROLE)
        .fetch_optional(&mut *conn)
        .await?;
    let login = if may_log_in { "login" } else { "nologin" };
    let statement = match may {
        None => format!(
            "do $$ begin create role {RUNTIME_ROLE} {login}; exception when duplicate_object or unique_violation then null; end $$"
        ),
        Some(false) if may_log_in => format!("alter role {RUNTIME_ROLE} login"),
        Some(_) => return Ok(()),
    };
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(conn).await?;
    Ok(())
}

async fn lacks_rights(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar(include_str!("sql/lacks_rights.sql")).bind(RUNTIME_ROLE).fetch_one(conn).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_said_in_a_statement_that_holds_nothing_else() {
        let ns = Namespace::new("team-a.prod_1").expect("a name");
        assert_eq!(Reach::Within(&ns).session(), "set remembrancer.namespace = 'team-a.prod_1'");
        assert_eq!(Reach::Across.local(), "set local remembrancer.namespace = '*'");
        assert!(Namespace::new("*").is_err() && Namespace::new("a'; drop").is_err());
    }
}
