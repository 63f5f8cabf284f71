//! The password of the installation: how it is set, and what is kept of it.

use std::process::Stdio;

use memory_core::access::Audited;
use memory_engine::password::PasswordCheck;
use memory_engine::{EngineSettings, Memory};
use memory_extraction::RulesExtractor;
use memory_store::Store;
use memory_tests::process::{DataDir, Ran, Server};
use sqlx::{Connection, PgConnection};
use tokio::io::AsyncWriteExt;

const PASSWORD: &str = "correct horse battery staple";

/// Sets the password by standard input.
pub(crate) async fn set_password(data_dir: &DataDir, password: &str) -> Ran {
    let mut command = data_dir.command("remembrancer");
    let command = command.args(["password", "set"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("it is open");
    stdin.write_all(format!("{password}\n").as_bytes()).await.expect("it is written");
    drop(stdin);
    let output = child.wait_with_output().await.expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

async fn memory(data_dir: &DataDir) -> Memory {
    let store = Store::open(&data_dir.database_url(), 4).await.expect("it opens");
    let settings = EngineSettings { audited: Audited::Changes, ..EngineSettings::default() };
    Memory::new(store, std::sync::Arc::new(RulesExtractor::new()), settings)
}

#[tokio::test]
async fn a_password_is_kept_as_a_hash_and_right_until_another_is_set_or_it_is_removed() {
    let data_dir = DataDir::warm();
    let _server = Server::start(&data_dir).await;
    let ran = set_password(&data_dir, PASSWORD).await;
    assert!(ran.status.success() && !ran.stdout.contains("horse"), "{ran:?}");
    let memory = memory(&data_dir).await;
    let check = async |given: &str| memory.password().check(given).await.expect("it is checked");
    assert!(matches!(check(PASSWORD).await, PasswordCheck::Right(_)));
    for wrong in ["", "correct horse battery stapl", "Correct horse battery staple", &"x".repeat(100_000)] {
        assert_eq!(check(wrong).await, PasswordCheck::Wrong, "{}", wrong.len());
    }
    let mut conn = PgConnection::connect(&data_dir.database_url()).await.expect("the database answers");
    let rows = "select a::text from admin_password a union all select e::text from audit_entry e";
    let rows: Vec<String> = sqlx::query_scalar(rows).fetch_all(&mut conn).await.expect("rows");
    assert!(rows.iter().any(|row| row.contains("$argon2id$v=19$m=19456,t=2,p=1$")), "{rows:?}");
    assert!(rows.iter().any(|row| row.contains("password set")), "{rows:?}");
    assert!(!rows.concat().contains("horse"), "{rows:?}");

    let mut by_variable = data_dir.command("remembrancer");
    by_variable.env("REMEMBRANCER_PASSWORD", "another password of the owner").args(["password", "set"]);
    assert!(Ran::of(&mut by_variable).await.status.success());
    assert_eq!(check(PASSWORD).await, PasswordCheck::Wrong);
    assert!(matches!(check("another password of the owner").await, PasswordCheck::Right(_)));
    assert!(data_dir.run(&["password", "remove"]).await.stdout.contains("is removed"));
    assert_eq!(check("another password of the owner").await, PasswordCheck::NotSet);
}

#[tokio::test]
async fn a_password_that_is_too_short_or_on_the_command_line_is_refused() {
    let data_dir = DataDir::warm();
    let _server = Server::start(&data_dir).await;
    for short in ["", "short", "eleven char"] {
        let ran = set_password(&data_dir, short).await;
        assert!(ran.refusal().contains("at least 12"), "{ran:?}");
    }
    let flag = data_dir.run(&["password", "set", "--password", PASSWORD]).await;
    assert_eq!(flag.status.code(), Some(2), "{flag:?}");
    let argument = data_dir.run(&["password", "set", PASSWORD]).await;
    assert_eq!(argument.status.code(), Some(2), "{argument:?}");
}
