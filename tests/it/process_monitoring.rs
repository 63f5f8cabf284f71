//! What is measured, against a real Prometheus: every metric that the board and the alerts ask for is there and answers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;

use memory_tests::process::{DataDir, Server, eventually, free_port, http_client, kill};
use memory_tests::qdrant::StandIn;
use rustix::process::Signal;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(90);

fn deployment(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deployment").join(file)
}

/// A server that measures, and the address of that.
struct Measured {
    server: Server,
    metrics: String,
    data_dir: DataDir,
    _qdrant: StandIn,
}

impl Measured {
    /// With all that can be measured: a mirror as well.
    async fn start() -> Self {
        let (data_dir, qdrant, port) = (DataDir::warm(), StandIn::start(), free_port());
        let mut command = data_dir.command("remembrancer");
        command.env("QDRANT_URL", qdrant.url()).env("REMEMBRANCER_QDRANT_SEARCH", "always");
        command.env("REMEMBRANCER_METRICS_BIND", format!("127.0.0.1:{port}"));
        let server = Server::start_with(command).await;
        Self { server, metrics: format!("127.0.0.1:{port}"), data_dir, _qdrant: qdrant }
    }

    async fn scrape(&self) -> String {
        let got = self.server.client().get(format!("http://{}/metrics", self.metrics)).send().await;
        got.expect("it is answered").text().await.expect("text")
    }

    async fn work(&self) {
        let text = "Anna will send the report to Ben by Friday. We decided to close hall 7.";
        self.server.ask("remember", json!({"content": text, "context": "meeting"})).await;
        self.server.ask("recall", json!({"query": "who closes the hall"})).await;
        let (_, is_error) = self.server.call("forget", json!({"id": "nonsense"})).await;
        assert!(is_error);
    }
}

/// The number after the first line that begins so.
fn value(scrape: &str, series: &str) -> f64 {
    let line = scrape.lines().find(|line| line.starts_with(series));
    let line = line.unwrap_or_else(|| panic!("{series} is not in\n{scrape}"));
    line.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

fn count(scrape: &str, series: &str) -> u64 {
    value(scrape, series) as u64
}

/// The metrics that are named in a text.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_metric = |word: &&str| word.starts_with("remembrancer_") || word.starts_with("process_");
    words.filter(is_metric).map(str::to_owned).collect()
}

/// Every query of the board and the alerts.
fn queries() -> Vec<String> {
    let board =
        std::fs::read_to_string(deployment("grafana/dashboards/remembrancer.json")).expect("the board");
    let board: Value = serde_json::from_str(&board).expect("JSON");
    let panels = board["panels"].as_array().expect("panels").iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    targets.map(|target| target["expr"].as_str().expect("a query").to_owned()).collect()
}

#[tokio::test]
async fn what_is_done_is_measured_and_no_label_tells_of_what_is_remembered() {
    let measured = Measured::start().await;
    let url = format!("{}?namespace=a-namespace-of-one", measured.server.url);
    let message =
        memory_tests::process::call("remember", json!({"content": "The marmot sleeps.", "title": "Marmot"}));
    let kept = measured.server.request_at(&url).json(&message).send().await.expect("it is answered");
    assert!(kept.status().is_success());
    measured.work().await;
    measured.server.settled().await;
    let mut scrape = String::new();
    eventually("the jobs are measured", PATIENCE, async || {
        scrape = measured.scrape().await;
        value(&scrape, "remembrancer_job_duration_seconds_count{kind=\"extract\",outcome=\"done\"}") >= 2.0
    })
    .await;
    assert_eq!(count(&scrape, "remembrancer_tool_duration_seconds_count{tool=\"recall\",outcome=\"ok\"}"), 1);
    assert_eq!(
        count(&scrape, "remembrancer_tool_duration_seconds_count{tool=\"forget\",outcome=\"refused\"}"),
        1
    );
    assert_eq!(count(&scrape, "remembrancer_recall_stage_duration_seconds_count{stage=\"words\"}"), 1);
    assert_eq!(count(&scrape, "remembrancer_embedding_texts_total{for=\"query\"}"), 1);
    for up in
        ["remembrancer_ready", "remembrancer_database_up", "remembrancer_model_ready", "remembrancer_workers"]
    {
        assert_eq!(count(&scrape, &format!("{up} ")), 1, "{up}");
    }
    assert!(
        value(&scrape, "process_resident_memory_bytes") > 1e6
            && value(&scrape, "process_start_time_seconds") > 1e9
    );
    assert!(value(&scrape, "remembrancer_database_size_bytes") > 1e6);
    assert_eq!(count(&scrape, "remembrancer_database_connections_max"), 16);
    for word in ["a-namespace-of-one", "marmot", "Marmot", "Anna", "job_1"] {
        assert!(!scrape.contains(word), "{word} is in\n{scrape}");
    }
    assert!(scrape.len() < 200_000, "{} bytes", scrape.len());
    // Everything says what it is.
    let helped: BTreeSet<&str> =
        scrape.lines().filter_map(|l| l.strip_prefix("# HELP ")?.split(' ').next()).collect();
    let typed: BTreeSet<&str> =
        scrape.lines().filter_map(|l| l.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert_eq!(helped, typed);
    let guide = std::fs::read_to_string(deployment("../docs/guides/monitoring.md")).expect("the guide");
    let documented = metrics_in(&guide);
    let known: BTreeSet<String> = typed.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(documented, known, "the guide and the scrape name the same metrics");
}

#[tokio::test]
async fn a_scrape_is_answered_while_the_database_is_not() {
    let measured = Measured::start().await;
    measured.work().await;
    let scrape = measured.scrape().await;
    assert_eq!(count(&scrape, "remembrancer_database_up "), 1);
    let postmaster = measured.data_dir.postmaster_pid().expect("the database runs");
    let children = std::fs::read_to_string(format!("/proc/{postmaster}/task/{postmaster}/children"));
    let mut stopped = vec![postmaster];
    stopped.extend(
        children.expect("they are listed").split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()),
    );
    for pid in &stopped {
        kill(*pid, Signal::STOP);
    }
    eventually("it is told", PATIENCE, async || {
        let scrape = measured.scrape().await;
        value(&scrape, "remembrancer_database_up ") == 0.0
            && value(&scrape, "remembrancer_ready ") == 0.0
            && value(&scrape, "remembrancer_jobs_oldest_seconds{lane=\"small\"}").is_nan()
    })
    .await;
    for pid in &stopped {
        kill(*pid, Signal::CONT);
    }
    eventually("it is up again", PATIENCE, async || {
        count(&measured.scrape().await, "remembrancer_database_up ") == 1
    })
    .await;
}

/// Whether Debian's Prometheus is there; as root it is installed where it is missing.
fn has_prometheus() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let run = |line: &str| {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", line]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            shell.status().is_ok_and(|status| status.success())
        };
        let is_there = || run("command -v prometheus && command -v promtool");
        let install = "DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends prometheus";
        let has = is_there() || run(install) || (run("apt-get update -q") && run(install)) || is_there();
        if !has {
            println!("SKIPPED: Prometheus is not installed and cannot be; alert rules and board were not tried against it");
        }
        has
    })
}

#[test]
fn promtool_finds_the_rules_sound_and_they_fire_when_they_should() {
    if !has_prometheus() {
        return;
    }
    for arguments in [
        ["check", "config", "prometheus.yml"],
        ["check", "rules", "alerts.yml"],
        ["test", "rules", "alerts_test.yml"],
    ] {
        let ran = std::process::Command::new("promtool")
            .args(arguments)
            .current_dir(deployment("prometheus"))
            .output();
        let ran = ran.expect("promtool runs");
        assert!(
            ran.status.success(),
            "{arguments:?}: {}{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        );
    }
}

#[tokio::test]
async fn the_board_and_the_alerts_ask_only_for_what_a_scrape_has() {
    let measured = Measured::start().await;
    measured.work().await;
    let scrape = measured.scrape().await;
    let alerts = std::fs::read_to_string(deployment("prometheus/alerts.yml")).expect("the alerts");
    let board = queries();
    assert!(board.len() > 30, "{} queries", board.len());
    for metric in metrics_in(&(board.join(" ") + &alerts)) {
        let is_there = scrape.lines().any(|line| line.split(['{', ' ']).next() == Some(&metric));
        assert!(is_there, "{metric} is asked for and is not in\n{scrape}");
    }
}

struct Prometheus {
    child: tokio::process::Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    fn start(target: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let config = format!(
            "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: [{}]\nscrape_configs:\n- job_name: remembrancer\n  static_configs: [{{targets: ['{target}']}}]\n",
            deployment("prometheus/alerts.yml").display()
        );
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, config).expect("it is written");
        let address = format!("127.0.0.1:{}", free_port());
        let log = std::fs::File::create(folder.path().join("log")).expect("a log");
        let child = tokio::process::Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address={address}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .expect("Prometheus starts");
        Self { child, url: format!("http://{address}"), _folder: folder }
    }

    /// How many series answer a query; none while there are none or the server does not answer.
    async fn ask(&self, query: &str) -> Option<usize> {
        let url = reqwest::Url::parse_with_params(&format!("{}/api/v1/query", self.url), [("query", query)]);
        let answer: Value =
            http_client().get(url.expect("an address")).send().await.ok()?.json().await.ok()?;
        assert_ne!(answer["status"], "error", "{query}: {answer}");
        Some(answer["data"]["result"].as_array()?.len())
    }
}

#[tokio::test]
async fn prometheus_answers_every_query_of_the_board_from_a_real_scrape() {
    if !has_prometheus() {
        return;
    }
    let measured = Measured::start().await;
    measured.work().await;
    let mut prometheus = Prometheus::start(&measured.metrics);
    eventually("it is scraped", PATIENCE, async || {
        assert!(prometheus.child.try_wait().expect("it is watched").is_none(), "Prometheus has ended");
        prometheus.ask("up == 1").await == Some(1)
    })
    .await;
    measured.work().await;
    let mut unanswered: Vec<String> = queries();
    eventually("every query has an answer", PATIENCE, async || {
        let mut left = Vec::new();
        for query in std::mem::take(&mut unanswered) {
            let asked = query.replace("$__rate_interval", "60s").replace("$job", ".*");
            // A dead job is what one hopes not to see.
            if prometheus.ask(&asked).await.is_none_or(|series| series == 0) && !query.ends_with("> 0") {
                left.push(query);
            }
        }
        unanswered = left;
        if !unanswered.is_empty() {
            measured.work().await;
        }
        unanswered.is_empty()
    })
    .await;
    // Every rule is evaluated, and nothing fires of a server that is well.
    eventually("every rule is evaluated", PATIENCE, async || {
        let rules = http_client()
            .get(format!("{}/api/v1/rules", prometheus.url))
            .send()
            .await
            .expect("it is answered");
        let rules: Value = rules.json().await.expect("JSON");
        let rules = rules["data"]["groups"][0]["rules"].as_array().expect("rules").clone();
        assert!(rules.iter().all(|rule| rule["health"] != "err" && rule["state"] != "firing"), "{rules:?}");
        rules.iter().all(|rule| rule["health"] == "ok")
    })
    .await;
    prometheus.child.kill().await.expect("it is ended");
}
