//! What README and the guides show, typed as it stands there.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use memory_tests::documented::{Shown, blocks, page, pages, shown};
use memory_tests::process::{DataDir, Ran, Server, StdioHost, binary, eventually, free_port};
use serde_json::json;

fn every_command_line() -> Vec<Shown> {
    pages().iter().flat_map(|page| shown(page)).collect()
}

#[tokio::test]
async fn every_command_line_that_the_documentation_shows_is_understood() {
    let data_dir = DataDir::empty();
    let shown = every_command_line();
    assert!(shown.len() > 60, "only {} command lines were found", shown.len());
    let mut faults = Vec::new();
    for Shown { place, arguments } in shown {
        // With --help nothing is done, but what stands before it must be understood.
        let mut command = data_dir.command("remembrancer");
        let ran = Ran::of(command.args(&arguments).arg("--help").stderr(Stdio::piped())).await;
        if !ran.status.success() {
            faults.push(format!("{place}: remembrancer {}: {}", arguments.join(" "), ran.stderr));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Ways to start a server that name no folder of the reader's, and those that a sentence tells.
fn ways_to_serve(command: &str) -> BTreeSet<Vec<String>> {
    let is_placeholder = |word: &String| word.chars().any(|c| c.is_ascii_uppercase()) || word.contains('~');
    let lines = every_command_line().into_iter();
    let mut ways: BTreeSet<Vec<String>> = lines
        .map(|shown| shown.arguments)
        .filter(|words| words.iter().any(|word| word == command) && !words.iter().any(is_placeholder))
        .collect();
    for flags in ["--toolsets graph", "--tools recall,forget", "--exclude-tools forget", "--read-only"] {
        let words = |line: String| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        ways.insert(words(format!("{flags} {command}")));
        ways.insert(words(format!("{command} {flags}")));
    }
    ways
}

#[tokio::test]
async fn stdio_starts_in_every_way_that_is_documented() {
    let data_dir = DataDir::warm();
    let ways = ways_to_serve("stdio");
    assert!(ways.len() >= 9, "{ways:?}");
    for words in ways {
        let mut command = data_dir.command("remembrancer");
        let at = words.iter().position(|word| word == "stdio").expect("it stands there");
        command.args(&words[..at]);
        let flags: Vec<&str> = words[at + 1..].iter().map(String::as_str).collect();
        let mut host = StdioHost::start_as(command, &flags);
        let answer = host.initialize().await;
        assert!(answer["result"]["serverInfo"].is_object(), "{words:?}: {answer}");
        host.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
        let tools = host.receive().await["result"]["tools"].as_array().expect("a list").len();
        let is_narrowed = words.iter().any(|word| word.starts_with("--") && word != "--namespace");
        assert!(if is_narrowed { (1..23).contains(&tools) } else { tools >= 23 }, "{words:?}: {tools} tools");
        assert!(host.close().await.success(), "{words:?}");
    }
}

#[tokio::test]
async fn serve_starts_in_every_way_that_is_documented() {
    let data_dir = DataDir::warm();
    // The first holds the folder, so that the others need no database of their own.
    let holder = Server::start(&data_dir).await;
    for mut words in ways_to_serve("serve") {
        let address = format!("127.0.0.1:{}", free_port());
        match words.iter().position(|word| word == "--bind") {
            Some(at) => words[at + 1].clone_from(&address),
            // Before the command, as well as after it.
            None => drop(words.splice(0..0, ["--bind".to_owned(), address.clone()])),
        }
        let mut child = data_dir.command("remembrancer").args(&words).spawn().expect("it starts");
        eventually(&format!("{words:?} listens"), Duration::from_secs(30), async || {
            assert!(child.try_wait().expect("it is watched").is_none(), "{words:?} has ended");
            holder.client().get(format!("http://{address}/livez")).send().await.is_ok()
        })
        .await;
        child.kill().await.expect("it is ended");
    }
}

/// Words are equal; scores, which depend on the processor's arithmetic, nearly.
fn says_the_same(shown: &str, printed: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let is_score = |word: &str| word.len() == 6 && word.starts_with("0.");
    let near = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) if is_score(a) => (x - y).abs() < 0.02,
        _ => a == b,
    };
    let (lines, printed): (Vec<&str>, Vec<&str>) = (shown.lines().collect(), printed.lines().collect());
    lines.len() == printed.len()
        && lines.iter().zip(&printed).all(|(a, b)| {
            let (a, b) = (words(a), words(b));
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| near(a, b))
        })
}

#[tokio::test]
async fn the_tour_of_the_readme_prints_what_it_shows_also_without_pauses() {
    let data_dir = DataDir::warm();
    let readme = page("README.md");
    let (_, tour) = readme.split_once("## Five minutes").expect("there is a tour");
    let (tour, _) = tour.split_once("\n## ").expect("it ends");
    let folder = binary("remembrancer").parent().expect("a folder").to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let repository = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut commands = 0;
    for block in blocks(tour).iter().filter(|block| block.language == "console") {
        let shown = block.lines.join("\n");
        let mut printed = Vec::new();
        for line in block.lines.iter().filter(|line| line.starts_with("$ ")) {
            commands += 1;
            let mut shell = data_dir.command("remembrancer").into_std();
            let environment: Vec<_> =
                shell.get_envs().map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned))).collect();
            shell = std::process::Command::new("sh");
            for (key, value) in environment {
                match value {
                    Some(value) => shell.env(key, value),
                    None => shell.env_remove(key),
                };
            }
            shell.env("PATH", &path).current_dir(&repository).stdin(Stdio::null());
            shell.arg("-c").arg(format!("({}) 2>&1", &line[2..]));
            let ran = tokio::task::spawn_blocking(move || shell.output()).await.expect("it is waited for");
            printed.push(line.clone());
            let text = String::from_utf8(ran.expect("it runs").stdout).expect("UTF-8");
            printed.extend(text.lines().map(|line| line.trim_start().to_owned()));
        }
        let printed = printed.join("\n");
        assert!(
            says_the_same(&shown, &printed),
            "README shows\n{shown}\n\nand what is printed is\n{printed}"
        );
    }
    assert!(commands >= 6, "the tour has {commands} commands");
}
