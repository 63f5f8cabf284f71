//! Who may speak to whom: sockets, folders and the database belong to one user, also when that is root.
//!
//! Most of this can only be tried by root, which can become another user; others see it skipped, loudly.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use memory_tests::postgres_bin;
use memory_tests::process::{DataDir, Ran, Server, eventually, is_alive, kill};
use rustix::process::Signal;
use serde_json::json;
use tokio::process::Command;

/// A user that every machine has.
const OTHER: u32 = 1;
const NOBODY: u32 = 65_534;

fn is_root(test: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("SKIPPED, since only root can be somebody else: {test}");
    }
    is_root
}

fn owner(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).map(|found| found.uid()).expect("it is there")
}

fn chown_all(folder: &Path, uid: u32) {
    let done =
        std::process::Command::new("chown").arg("-Rh").arg(format!("{uid}:{uid}")).arg(folder).status();
    assert!(done.expect("chown runs").success());
}

/// What the database answers a process of this user.
async fn psql(data_dir: &Path, uid: u32) -> Ran {
    let mut command = Command::new(postgres_bin().join("psql"));
    command.arg("-h").arg(data_dir.join("postgres/socket"));
    command.args(["-U", "postgres", "-d", "postgres", "-Atc", "select 'it ' || 'answers'"]);
    Ran::of(command.uid(uid).gid(uid).current_dir("/").env("PGCONNECT_TIMEOUT", "10")).await
}

#[tokio::test]
async fn root_leaves_the_memory_of_another_user_as_it_is() {
    if !is_root("root_leaves_the_memory_of_another_user_as_it_is") {
        return;
    }
    let data_dir = DataDir::new();
    chown_all(data_dir.path(), OTHER);
    let as_other = async |arguments: &[&str]| {
        let mut command = data_dir.command("remembrancer");
        Ran::of(command.uid(OTHER).gid(OTHER).env("HOME", data_dir.path()).args(arguments)).await
    };
    let note = data_dir.path().join("note.txt");
    std::fs::write(&note, "The spare key is in the blue box.").expect("a note is written");
    let kept = as_other(&["remember", &note.to_string_lossy()]).await;
    assert!(kept.status.success(), "{kept:?}");
    // While its process runs, and when nothing runs.
    for is_running in [true, false] {
        if !is_running {
            let [instance] = data_dir.instances()[..] else { panic!("one process holds the folder") };
            kill(instance, Signal::TERM);
            eventually("the process has ended", Duration::from_secs(20), async || !is_alive(instance)).await;
        }
        for arguments in [&["recall", "spare key"][..], &["serve", "--bind", "127.0.0.1:0"], &["stdio"]] {
            let refused = data_dir.run(arguments).await;
            assert!(refused.refusal().contains("belongs to"), "{refused:?}");
        }
        for path in ["run", "postgres", "postgres/data", "postgres/socket"] {
            assert_eq!(owner(&data_dir.path().join(path)), OTHER, "{path}");
        }
    }
    let found = as_other(&["recall", "spare key"]).await;
    assert!(found.stdout.contains("blue box"), "{found:?}");
}

#[tokio::test]
async fn root_does_not_take_over_a_database_of_another_user() {
    if !is_root("root_does_not_take_over_a_database_of_another_user") {
        return;
    }
    let data_dir = DataDir::warm();
    chown_all(&data_dir.path().join("postgres"), OTHER);
    let refused = data_dir.run(&["serve", "--bind", "127.0.0.1:0"]).await;
    assert!(
        refused.refusal().contains("postgres") && refused.refusal().contains("belongs to"),
        "{refused:?}"
    );
    assert_eq!(owner(&data_dir.path().join("postgres")), OTHER);
    assert_eq!(owner(&data_dir.path().join("postgres/data")), OTHER);
}

#[tokio::test]
async fn as_root_other_processes_of_the_databases_user_are_not_let_in_and_see_no_secret() {
    if !is_root("as_root_other_processes_of_the_databases_user_are_not_let_in_and_see_no_secret") {
        return;
    }
    let data_dir = DataDir::warm();
    let start = async || {
        let mut command = data_dir.command("remembrancer");
        for secret in ["REMEMBRANCER_TOKEN", "REMEMBRANCER_LLM_KEY", "QDRANT_API_KEY"] {
            command.env(secret, "a-secret-of-thirty-two-characters");
        }
        let server = Server::start_with(command).await;
        eventually("the database answers root", Duration::from_secs(60), async || {
            psql(data_dir.path(), 0).await.stdout.contains("it answers")
        })
        .await;
        server
    };
    let server = start().await;
    let user = owner(&data_dir.path().join("postgres/data"));
    assert_ne!(user, 0);
    let refused = psql(data_dir.path(), user).await;
    assert!(!refused.status.success() && refused.stderr.contains("failed"), "{refused:?}");
    let outside = psql(data_dir.path(), OTHER).await;
    assert!(!outside.status.success(), "{outside:?}");
    let postmaster = data_dir.postmaster_pid().expect("it runs");
    let environment = std::fs::read(format!("/proc/{postmaster}/environ")).expect("its environment");
    let environment = String::from_utf8_lossy(&environment).into_owned();
    assert!(!environment.contains("a-secret") && !environment.contains("REMEMBRANCER_"), "{environment}");

    // What an earlier build allowed is gone as soon as this one has the server, whether it finds it running or not.
    let rules = data_dir.path().join("postgres/data/pg_hba.conf");
    std::fs::write(&rules, "local all all trust\nhost all all 127.0.0.1/32 trust\n")
        .expect("rules are written");
    kill(postmaster, Signal::HUP);
    eventually("everybody is let in", Duration::from_secs(20), async || {
        psql(data_dir.path(), user).await.status.success()
    })
    .await;
    server.kill().await;
    let server = start().await;
    eventually("they are not any more", Duration::from_secs(20), async || {
        !psql(data_dir.path(), user).await.status.success()
    })
    .await;
    server.terminate().await;
    std::fs::write(&rules, "local all all trust\n").expect("rules are written");
    let server = start().await;
    assert!(!psql(data_dir.path(), user).await.status.success());
    server.terminate().await;
}

#[tokio::test]
async fn nothing_is_said_to_a_process_of_another_user_that_listens_first() {
    if !is_root("nothing_is_said_to_a_process_of_another_user_that_listens_first") {
        return;
    }
    let data_dir = DataDir::warm();
    let run = data_dir.path().join("run");
    std::fs::create_dir(&run).expect("a folder is made");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o777)).expect("its mode is set");
    let socket = run.join("embedded.sock");
    let heard = listen_as(OTHER, &socket);
    let refused = data_dir.run(&["recall", "spare key"]).await;
    assert!(refused.refusal().contains("nothing was said to it"), "{refused:?}");
    assert_eq!(heard(), Vec::<u8>::new(), "something was said");
    assert_eq!(std::fs::metadata(&run).expect("it is there").mode() & 0o777, 0o700);
}

/// Listens as another user; gives what was heard in the end.
fn listen_as(uid: u32, socket: &Path) -> impl FnOnce() -> Vec<u8> {
    let socket = socket.to_owned();
    let (ready, is_ready) = std::sync::mpsc::channel();
    let listening = std::thread::spawn(move || {
        // Of this thread alone.
        let uid = rustix::process::Uid::from_raw(uid);
        rustix::thread::set_thread_res_uid(uid, uid, uid).expect("it is another user");
        let listener = std::os::unix::net::UnixListener::bind(&socket).expect("it listens");
        ready.send(()).expect("it is awaited");
        let (mut stream, _) = listener.accept().expect("somebody comes");
        let mut heard = Vec::new();
        std::io::Read::read_to_end(&mut stream, &mut heard).expect("it reads");
        heard
    });
    is_ready.recv().expect("it listens");
    move || listening.join().expect("it ends")
}

#[tokio::test]
async fn a_server_does_not_answer_processes_of_other_users() {
    if !is_root("a_server_does_not_answer_processes_of_other_users") {
        return;
    }
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    // As after a mistake of an operator.
    let (run, socket) = (data_dir.path().join("run"), data_dir.path().join("run/embedded.sock"));
    for path in [&run, &socket] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).expect("a mode");
    }
    let asked = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let uid = rustix::process::Uid::from_raw(NOBODY);
        rustix::thread::set_thread_res_uid(uid, uid, uid).expect("it is another user");
        let mut stream = std::os::unix::net::UnixStream::connect(socket).expect("it connects");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        let _ = stream.write_all(b"{\"want\":\"mcp\",\"namespace\":\"default\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    });
    let answer = tokio::task::spawn_blocking(move || asked.join().expect("it ends")).await.expect("it ends");
    assert_eq!(answer, Vec::<u8>::new(), "{}", String::from_utf8_lossy(&answer));
    assert_eq!(server.ask("recall", json!({"query": "key"})).await["results"], json!([]));
}

#[tokio::test]
async fn folders_that_are_links_or_another_users_are_refused() {
    if !is_root("folders_that_are_links_or_another_users_are_refused") {
        return;
    }
    for name in ["run", "postgres"] {
        let data_dir = DataDir::new();
        let (path, target) = (data_dir.path().join(name), data_dir.path().join("target"));
        std::fs::create_dir(&target).expect("a folder is made");
        std::os::unix::fs::symlink(&target, &path).expect("a link is made");
        std::os::unix::fs::lchown(&path, Some(OTHER), Some(OTHER)).expect("it is another user's");
        let refused = data_dir.run(&["serve", "--bind", "127.0.0.1:0"]).await;
        assert!(refused.refusal().contains("is a link"), "{refused:?}");
        assert_eq!(owner(&target), 0);
        std::fs::remove_file(&path).expect("the link is removed");
        std::fs::create_dir(&path).expect("a folder is made");
        std::os::unix::fs::chown(&path, Some(OTHER), Some(OTHER)).expect("it is another user's");
        let refused = data_dir.run(&["serve", "--bind", "127.0.0.1:0"]).await;
        assert!(refused.refusal().contains("belongs to"), "{refused:?}");
        assert_eq!(owner(&path), OTHER);
    }
}

#[tokio::test]
async fn a_data_folder_with_a_long_path_works_without_a_name_that_others_can_guess() {
    let above = DataDir::new();
    let long: PathBuf = above.path().join("deep ".repeat(20)).join("y".repeat(120));
    std::fs::create_dir_all(&long).expect("folders are made");
    for component in ["runtime", "models"] {
        std::os::unix::fs::symlink(above.path().join(component), long.join(component)).expect("a link");
    }
    let shared = above.path().join("tmp");
    std::fs::create_dir(&shared).expect("a folder is made");
    let run = async |arguments: &[&str]| {
        let mut command = above.command("remembrancer");
        command
            .env("REMEMBRANCER_DATA_DIR", &long)
            .env("TMPDIR", &shared)
            .env("REMEMBRANCER_IDLE_SECONDS", "2");
        Ran::of(command.args(arguments)).await
    };
    let note = above.path().join("note.txt");
    std::fs::write(&note, "The spare key is in the blue box.").expect("a note is written");
    let kept = run(&["remember", &note.to_string_lossy()]).await;
    assert!(kept.status.success(), "{kept:?}");
    let found = run(&["recall", "spare key"]).await;
    assert!(found.stdout.contains("blue box"), "{found:?}");
    assert!(long.join("run/embedded.sock").exists() && long.join("postgres/socket/.s.PGSQL.5432").exists());
    let shared = std::fs::read_dir(&shared).expect("it is read").flatten();
    let ours: Vec<_> =
        shared.filter(|entry| entry.file_name().to_string_lossy().contains("remembrancer")).collect();
    assert!(ours.is_empty(), "{ours:?} can be guessed");
    eventually("all has ended", Duration::from_secs(60), async || {
        !long.join("postgres/data/postmaster.pid").exists() && !long.join("run/embedded.sock").exists()
    })
    .await;
}

#[tokio::test]
async fn a_data_folder_that_is_made_is_closed_to_others_and_its_files_too() {
    let above = DataDir::new();
    let made = above.path().join("made");
    let mut command = above.command("remembrancer");
    command.env("REMEMBRANCER_DATA_DIR", &made).env("REMEMBRANCER_IDLE_SECONDS", "1");
    Ran::of(command.arg("status")).await;
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").mode() & 0o777;
    let closed = if rustix::process::geteuid().is_root() { 0o711 } else { 0o700 };
    assert_eq!((mode(&made), mode(&made.join("run"))), (closed, 0o700));
    for file in ["embedded.log", "embedded.lock", "embedded.settings"] {
        assert_eq!(mode(&made.join("run").join(file)), 0o600, "{file}");
    }
    eventually("its process has ended", Duration::from_secs(40), async || {
        !made.join("run/embedded.sock").exists()
    })
    .await;
}

#[tokio::test]
async fn a_first_start_that_was_killed_does_not_keep_the_next_from_working() {
    for signal in [Signal::KILL, Signal::TERM] {
        let data_dir = ended_at_its_first_start(signal).await;
        let server = Server::start(&data_dir).await;
        server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
        server.terminate().await;
        // What was still being written at that start goes with the next.
        let server = Server::start(&data_dir).await;
        server.ask("status", json!({})).await;
        server.terminate().await;
    }
}

/// Ends a server while it makes its database. Told to stop it may finish that; killed it may have been too quick, which does not
/// count.
async fn ended_at_its_first_start(signal: Signal) -> DataDir {
    for _ in 0..10 {
        let data_dir = DataDir::new();
        let mut server = Server::start(&data_dir).await;
        let home = data_dir.path().join("postgres");
        let is_being_made = || {
            let mut entries = std::fs::read_dir(&home).into_iter().flatten().flatten();
            entries.any(|entry| entry.file_name().to_string_lossy().starts_with("data.new"))
        };
        eventually("the database is being made", Duration::from_secs(30), async || {
            is_being_made() || home.join("data").exists()
        })
        .await;
        kill(server.pid(), signal);
        server.child.wait().await.expect("it ends");
        if signal == Signal::TERM || !home.join("data").exists() {
            return data_dir;
        }
    }
    panic!("the database was always made before the server could be killed");
}
