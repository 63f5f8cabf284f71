//! Measuring: the figures are those that the data must give, and nothing is left behind.

use std::path::Path;

use memory_core::id::Namespace;
use memory_store::Store;
use memory_tests::Fixture;
use memory_tests::chat_server::{Act, Asked, ChatServer};
use memory_tests::process::{DataDir, Ran, Server};
use remembrancer_bench::scale::bulk;
use remembrancer_bench::synthetic::World;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

/// Two conversations. Each question's words stand in its evidence and in nothing else of the conversation; the last
/// question names no turn that is there.
fn conversations() -> Value {
    let turn = |id: &str, session: i64, speaker: &str, text: &str| {
        let date = format!("{}:05 pm on {} March, 2024", session + 1, session + 3);
        json!({ "id": id, "session": session, "date": date, "speaker": speaker, "text": text })
    };
    let question = |question: &str, category: i64, evidence: &[&str]| json!({ "question": question, "category": category, "evidence": evidence });
    json!([
        {
            "id": "garden",
            "turns": [
                turn("1:1", 1, "Ilse", "The zucchini seedlings came up this morning."),
                turn("1:2", 1, "Marko", "Good to hear."),
                turn("2:1", 2, "Ilse", "A marten has eaten the cherries."),
                turn("2:2", 2, "Marko", "Then buy a fence."),
            ],
            "questions": [
                question("zucchini seedlings", 4, &["1:1"]),
                question("marten cherries", 1, &["2:1"]),
            ],
        },
        {
            "id": "boat",
            "turns": [turn("a", 1, "Per", "The rudder of the Albatross is cracked."), turn("b", 1, "Siv", "Oh no.")],
            "questions": [question("rudder Albatross", 2, &["a"]), question("mast", 2, &["z"])],
        },
    ])
}

async fn measure(data_dir: &DataDir, arguments: &[&str]) -> Ran {
    Ran::of(data_dir.command("remembrancer-bench").args(arguments)).await
}

fn write(folder: &Path, name: &str, value: &Value) -> String {
    let file = folder.join(name);
    std::fs::write(&file, value.to_string()).expect("a file is written");
    file.to_string_lossy().into_owned()
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).expect("the report is there")).expect("it is JSON")
}

fn configured<'a>(level: &'a Value, weights: &str) -> &'a Value {
    let all = level["configurations"].as_array().expect("configurations");
    all.iter().find(|c| c["weights"] == weights).unwrap_or_else(|| panic!("{weights}: {level}"))
}

fn mean(configured: &Value, group: &str, metric: &str, k: u64) -> f64 {
    let group = configured["groups"].as_array().expect("groups").iter().find(|g| g["group"] == group);
    let metrics = group.expect("the group")["metrics"].as_array().expect("metrics");
    let found = metrics.iter().find(|m| m["metric"] == metric && m["k"] == k);
    found.expect("the metric")["mean"].as_f64().expect("a number")
}

#[tokio::test]
async fn quality_finds_the_evidence_of_invented_conversations_and_counts_what_it_skips() {
    let data_dir = DataDir::new();
    let file = write(data_dir.path(), "talks.json", &conversations());
    let again = write(data_dir.path(), "again.json", &conversations());
    let out = data_dir.path().join("quality.json");
    let out = out.to_string_lossy().into_owned();
    let picture = data_dir.path().join("quality.svg").to_string_lossy().into_owned();
    let arguments = ["quality", &file, &again, "-k", "1,5", "--json", &out, "--svg", &picture];
    let ran = measure(&data_dir, &arguments).await;
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
    for collection in ["talks", "again"] {
        assert!(ran.stdout.contains(&format!("{collection}, turn level: 6 artifacts")), "{ran:?}");
        assert!(ran.stdout.contains(&format!("{collection}, session level: 3 artifacts")), "{ran:?}");
    }
    assert!(ran.stdout.contains("talks, turns"), "side by side: {ran:?}");
    let report = read(Path::new(&out));
    assert_eq!(report["levels"].as_array().map(Vec::len), Some(4), "{report}");
    for level in report["levels"].as_array().expect("levels") {
        assert_eq!((&level["questions"], &level["skipped"]), (&json!(3), &json!(1)), "{level}");
        // A word that stands in one text only is found by the words alone, first.
        let lexical = configured(level, "lexical alone");
        for group in ["all", "1-4", "1 multi-hop", "2 temporal", "4 single-hop"] {
            for metric in ["any", "all", "frac"] {
                assert!((mean(lexical, group, metric, 5) - 1.0).abs() < 1e-9, "{group} {metric}: {lexical}");
            }
        }
        assert!((mean(configured(level, "default"), "all", "frac", 5) - 1.0).abs() < 1e-9, "{level}");
        let vector = configured(level, "vector alone");
        assert!(vector["groups"][0]["metrics"][0]["against_default"]["mean"].is_number(), "{vector}");
    }
    assert_eq!(report["settings"]["files"][0]["turns"], 6);
    assert!(report["model"].as_str().is_some_and(|m| !m.is_empty()), "{report}");
    let drawn = std::fs::read_to_string(&picture).expect("the picture is there");
    assert!(drawn.starts_with("<svg") && drawn.contains("among the first 5"), "{drawn}");
    assert!(!data_dir.path().join("postgres").exists(), "the data folder's own database was used");
}

#[tokio::test]
async fn quality_on_a_given_database_leaves_what_was_there_and_nothing_else() {
    let data_dir = DataDir::new();
    let file = write(data_dir.path(), "talks.json", &conversations());
    let fixture = Fixture::new().await;
    fixture.remember("The Albatross was sold to Ilse.").await;
    let mut command = data_dir.command("remembrancer-bench");
    command.env("DATABASE_URL", &fixture.url).args(["quality", &file, "--level", "turn", "-k", "1"]);
    let ran = Ran::of(&mut command).await;
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(fixture.count("select count(*) from artifact where namespace = 'default'").await, 1);
    for statement in [
        "select count(*) from artifact where namespace <> 'default'",
        "select count(*) from passage_embedding where namespace <> 'default'",
        "select count(*) from entity where namespace <> 'default'",
        "select count(*) from event_jobs where namespace <> 'default'",
    ] {
        assert_eq!(fixture.count(statement).await, 0, "{statement}");
    }
}

#[tokio::test]
async fn what_cannot_be_measured_is_refused_with_a_reason() {
    let data_dir = DataDir::new();
    let not_ours = write(data_dir.path(), "other.json", &json!({ "a": 1 }));
    let ran = measure(&data_dir, &["quality", &not_ours]).await;
    assert!(ran.refusal().contains("is not a list of conversations"), "{ran:?}");
    let missing = measure(&data_dir, &["quality", "/nowhere.json"]).await;
    assert!(missing.refusal().contains("/nowhere.json cannot be read"), "{missing:?}");
    let mut talks = conversations();
    talks[0]["turns"][1]["date"] = json!("some day");
    let undated = write(data_dir.path(), "undated.json", &talks);
    let ran = measure(&data_dir, &["quality", &undated]).await;
    assert!(ran.refusal().contains("'some day'") && ran.refusal().contains("'garden'"), "{ran:?}");
    let nothing = measure(&data_dir, &["extraction", "/nowhere"]).await;
    assert!(nothing.refusal().contains("the folder /nowhere cannot be read"), "{nothing:?}");
}

#[tokio::test]
async fn scale_fills_a_database_searches_it_and_uses_it_again() {
    let data_dir = DataDir::new();
    let (keep, out) = (data_dir.path().join("kept"), data_dir.path().join("scale.json"));
    let (keep, out) = (keep.to_string_lossy().into_owned(), out.to_string_lossy().into_owned());
    let arguments = |seed| {
        let fixed = ["scale", "--sizes", "200", "--queries", "10", "--clients", "1,3", "--dimension", "16"];
        [&fixed[..], &["--keep", &keep, "--json", &out, "--seed", seed]].concat()
    };
    let first = measure(&data_dir, &arguments("7")).await;
    assert!(first.status.success(), "{first:?}");
    let report = read(Path::new(&out));
    let size = &report["sizes"][0];
    assert_eq!(size["passages"], 200);
    let measured = size["measured"].as_array().expect("measurements");
    let rounds: Vec<(&str, u64)> = measured
        .iter()
        .map(|m| (m["weights"].as_str().expect("weights"), m["clients"].as_u64().expect("clients")))
        .collect();
    for weights in ["default", "vector alone", "lexical alone"] {
        assert!(rounds.contains(&(weights, 1)) && rounds.contains(&(weights, 3)), "{rounds:?}");
    }
    for one in measured {
        assert_eq!((&one["ms"]["count"], &one["errors"]), (&json!(10), &json!(0)), "{one}");
    }
    let on_disk = size["on_disk"].as_array().expect("relations");
    for kind in ["table", "gin", "hnsw"] {
        assert!(
            on_disk.iter().any(|one| one["kind"] == kind && one["bytes"].as_i64() > Some(0)),
            "{kind}: {size}"
        );
    }
    assert!(size["server_bytes"].as_u64() > Some(1 << 20), "{size}");

    let again = measure(&data_dir, &arguments("7")).await;
    assert!(again.status.success(), "{again:?}");
    assert_eq!(read(Path::new(&out))["sizes"][0]["filled"], size["filled"], "it was filled again");
    let other = measure(&data_dir, &arguments("8")).await;
    assert!(other.refusal().contains("200 passages of seed 7"), "{other:?}");
}

#[tokio::test]
async fn a_note_that_was_stored_in_bulk_is_the_rows_that_remembering_it_writes() {
    let fixture = Fixture::new().await;
    let remembered = Namespace::new("remembered").expect("a namespace");
    let bulk_stored = Namespace::new("bulk").expect("a namespace");
    let world = World::new(7, 384);
    let short = |n: &u64| memory_core::chunk::chunk_text(&world.note(*n).content).passages.len() == 1;
    let number = (0..100).find(short).expect("a note that a passage has room for");
    fixture.memory.remember(&remembered, world.note(number)).await.expect("it is remembered");
    let note = remembrancer_bench::scale::note(&world, &bulk_stored, number).expect("a note");
    let store = Store::open(&fixture.url, 4).await.expect("the database opens");
    let mut tx = store.begin_across().await.expect("it begins");
    let mut conn = store.acquire_across().await.expect("a connection");
    let model =
        memory_store::models::active(&mut conn).await.expect("a model").expect("it is active").model_id;
    bulk::insert(&mut tx, &bulk_stored, &[note], model).await.expect("it is stored");
    tx.commit().await.expect("it commits");
    let mut sql = fixture.sql().await;
    for (table, own) in [
        ("artifact", "'created_at'"),
        ("artifact_revision", "'created_at', 'revision_id'"),
        ("passage", "'revision_id', 'passage_id', 'lex'"),
        ("passage_embedding", "'revision_id', 'passage_id', 'embedding'"),
    ] {
        let row = |ns: &str| {
            format!(
                "select (to_jsonb(t) - array['namespace', {own}])::text from {table} t where t.namespace = '{ns}'"
            )
        };
        let rows = async |ns: &str, sql: &mut PgConnection| -> Vec<String> {
            sqlx::query_scalar(sqlx::AssertSqlSafe(row(ns))).fetch_all(sql).await.expect("rows")
        };
        let expected = rows("remembered", &mut sql).await;
        assert_eq!(expected.len(), 1, "{table}");
        assert_eq!(rows("bulk", &mut sql).await, expected, "{table}");
    }
    // The lexemes differ in nothing but the namespace's key, which is five letters.
    let same_lexemes = "select count(distinct lexemes) from (
         select (select array_agg((substr(u.lexeme, 6), u.positions)::text order by substr(u.lexeme, 6))
                 from unnest(p.lex) u) as lexemes
         from passage p) per_passage";
    assert_eq!(fixture.count(same_lexemes).await, 1);
}

/// Notes, questions and connections of a round.
const FEW: [&str; 6] = ["--artifacts", "6", "--queries", "4", "--clients", "1,2"];

#[tokio::test]
async fn latency_is_measured_on_a_server_of_its_own() {
    let data_dir = DataDir::new();
    let out = data_dir.path().join("latency.json").to_string_lossy().into_owned();
    let ran = measure(&data_dir, &[&["latency", "--json", &out], &FEW[..]].concat()).await;
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
    let report = read(Path::new(&out));
    let rounds = report["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.iter().map(|r| r["clients"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
    for round in rounds {
        for (tool, count) in [("remember", 6), ("recall", 4), ("recall_again", 4)] {
            let calls = &round[tool];
            assert_eq!((&calls["ms"]["count"], &calls["errors"]), (&json!(count), &json!(0)), "{round}");
        }
    }
    assert_eq!(report["embedding"]["ms"]["count"], 4);
    let empty = report["empty"]["disk_bytes"].as_u64().expect("what the empty database takes");
    let footprint = &rounds[1]["footprint"];
    assert!(
        footprint["disk_bytes"].as_u64().is_some_and(|bytes| bytes > empty && empty > 1 << 20),
        "{report}"
    );
    for process in ["server_bytes", "database_bytes"] {
        assert!(footprint[process].as_u64().is_some_and(|bytes| bytes > 1 << 20), "{footprint}");
    }
    assert!(!data_dir.path().join("postgres").exists(), "the data folder's own database was used");
}

#[tokio::test]
async fn a_running_server_is_measured_and_forgets_what_it_was_given() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("remember", json!({ "content": "The spare key is in the blue box." })).await;
    let ran = measure(&data_dir, &[&["latency", "--url", &server.url], &FEW[..]].concat()).await;
    assert!(ran.status.success(), "{ran:?}");
    let mut sql = PgConnection::connect(&data_dir.database_url()).await.expect("the database answers");
    let left: Vec<String> =
        sqlx::query_scalar("select content from artifact").fetch_all(&mut sql).await.expect("rows");
    assert_eq!(left, ["The spare key is in the blue box."]);
    let nobody = measure(&data_dir, &["latency", "--url", "https://localhost:1/mcp"]).await;
    assert!(nobody.refusal().contains("http://"), "{nobody:?}");
}

/// A document that holds a promise and a decision; the labels say promise only, by a day that is not the text's.
fn labelled(folder: &Path, name: &str, quote: &str) {
    let text = "Hi Bob,\n\nI will send the contract by 14 February 2025.\nWe decided to close the Ghent office.\n\nDana Whitfield\n";
    let labels = json!({
        "context": "email", "title": null, "author": "Dana Whitfield", "participants": [], "date": "2025-02-11T09:00:00Z",
        "events": [{ "category": "Commitment", "quote": quote, "actors": [{ "name": "Dana Whitfield", "role": "owner" }],
                     "due": "2025-02-13", "when": null, "optional": false }],
        "entities": [{ "name": "Dana Whitfield", "type": "person", "aliases": [] }, { "name": "Bob", "type": "person", "aliases": [] }],
    });
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(folder.join(format!("{name}.txt")), text).expect("a text is written");
    write(folder, &format!("{name}.json"), &labels);
}

#[tokio::test]
async fn extraction_is_measured_without_a_database_and_its_mistakes_are_listed() {
    let data_dir = DataDir::new();
    let (folder, out) = (data_dir.path().join("labelled"), data_dir.path().join("extraction.json"));
    labelled(&folder, "mail-contract", "I will send the contract by 14 February 2025");
    let (given, out) = (folder.to_string_lossy().into_owned(), out.to_string_lossy().into_owned());
    let ran = measure(&data_dir, &["extraction", &given, "--json", &out, "--errors"]).await;
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
    let report = read(Path::new(&out));
    let figures = &report["figures"];
    let counts = |scored: &Value| ["right", "wrong", "met", "missed"].map(|count| scored[count].as_u64());
    assert_eq!(counts(&figures["strict"]), [Some(1), Some(1), Some(1), Some(0)], "{figures}");
    assert_eq!(figures["strict"]["precision"]["value"], 0.5, "{figures}");
    assert_eq!((&figures["due"]["right"], &figures["due"]["of"]), (&json!(0), &json!(1)), "{figures}");
    assert_eq!((&figures["owner"]["right"], &figures["owner"]["of"]), (&json!(1), &json!(1)), "{figures}");
    assert_eq!(figures["negatives"]["documents"], 0);
    assert!(report["extractor"].as_str().is_some_and(|name| name.starts_with("rules ")), "{report}");
    assert_eq!(report["mistakes"][0]["wrong"][0]["category"], "Decision", "{report}");
    for line in [
        "mail-contract: 1 right, 1 wrong, 0 missed",
        "  wrong   Decision",
        "  due     2025-02-14, not 2025-02-13",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {ran:?}");
    }
    assert!(!data_dir.path().join("postgres").exists(), "a database was made");

    let unnamed = measure(&data_dir, &["extraction", &given, "--extractor", "llm"]).await;
    assert!(unnamed.refusal().contains("REMEMBRANCER_LLM_URL"), "{unnamed:?}");

    labelled(&folder, "mail-other", "I will send the invoice");
    let ran = measure(&data_dir, &["extraction", &given]).await;
    assert!(ran.refusal().contains("1 problem(s)"), "{ran:?}");
    for said in ["mail-other.json: event 1", "'I will send the invoice' is not in the text"] {
        assert!(ran.stderr.contains(said), "{said}: {ran:?}");
    }
}

fn reads_the_contract(_: usize, _: &Asked) -> Act {
    Act::say(
        &json!({"events": [{"category": "Commitment", "narrative": "Dana Whitfield will send the contract.", "sentences": [1],
        "quote": "I will send the contract by 14 February 2025", "actors": [{"name": "Dana Whitfield", "role": "owner"}]}],
        "entities": []}),
    )
}

#[tokio::test]
async fn extraction_is_measured_with_the_model_that_the_settings_name() {
    let model = ChatServer::start(reads_the_contract).await;
    let data_dir = DataDir::empty();
    let (folder, out) = (data_dir.path().join("labelled"), data_dir.path().join("extraction.json"));
    labelled(&folder, "mail-contract", "I will send the contract by 14 February 2025");
    let (given, out) = (folder.to_string_lossy().into_owned(), out.to_string_lossy().into_owned());
    let flags = ["--llm-url", &model.url, "--llm-model", "scripted-1"];
    let asks = [&["extraction", &given, "--extractor", "llm", "--json", &out], &flags[..]].concat();
    let ran = measure(&data_dir, &asks).await;
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
    let report = read(Path::new(&out));
    assert_eq!(model.asked()[0].body["model"], "scripted-1");
    assert!(report["extractor"].as_str().is_some_and(|name| name.starts_with("llm ")), "{report}");
    assert_eq!(report["settings"]["model"], "scripted-1", "{report}");
    assert_eq!(report["figures"]["strict"]["right"], 1, "{report}");
    // Without the word the same folder is read by the rules, and no model is asked.
    let asked = model.asked().len();
    let ran = measure(&data_dir, &[&["extraction", &given], &flags[..]].concat()).await;
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(model.asked().len(), asked);
}
