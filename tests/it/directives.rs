//! Directives: lasting instructions and preferences are found when a text is stored, and answered where they bear on
//! the question.

use std::sync::Arc;

use memory_core::artifact::Draft;
use memory_core::id::AnyId;
use memory_engine::directives::Directive;
use memory_engine::recall::{LIST_OF_WISHES, RecallDraft};
use memory_extraction::RulesExtractor;
use memory_inference::text_encoder::OnnxTextEncoder;
use memory_tests::process::{DataDir, Server};
use memory_tests::{Fixture, model_dir, onnxruntime_library, turn};
use serde_json::json;

use crate::archive::{exported_as, import};
use crate::shorthand::{execute, light, note, ns, query};
use crate::stand_ins::line_reader;

fn user(conversation: &str, index: i64, date: &str, content: &str) -> Draft {
    Draft { role: Some("user".into()), date: Some(date.into()), ..turn(conversation, index, "user", content) }
}

fn assistant(conversation: &str, index: i64, content: &str) -> Draft {
    Draft { role: Some("assistant".into()), ..turn(conversation, index, "assistant", content) }
}

async fn shown(f: &Fixture, question: &str) -> Vec<Directive> {
    f.recall_as(query(question)).await.directives
}

async fn quotes(f: &Fixture, question: &str) -> Vec<String> {
    shown(f, question).await.into_iter().map(|directive| directive.quote).collect()
}

fn somebody(name: &str, date: &str, content: &str) -> Draft {
    let (author, date) = (Some(name.into()), Some(date.into()));
    Draft { author, date, context: Some("chat".into()), ..note(content) }
}

#[tokio::test]
async fn who_has_said_nearly_all_that_is_wanted_is_the_user() {
    let f = light(line_reader()).await;
    for (name, date, content) in [
        ("Maren", "2026-09-01", "Please keep answers short."),
        ("Maren", "2026-09-02", "Never use emojis in answers."),
        ("Maren", "2026-09-03", "Answer in German from now on."),
        ("Maren ", "2026-09-04", "Never end your answers with a question."),
        ("Tom", "2026-09-05", "Please write long answers from now on."),
    ] {
        f.remember_as(somebody(name, date, content)).await;
    }
    let wanted = quotes(&f, "Write a paragraph about tides.").await;
    assert_eq!(wanted.len(), 4, "{wanted:?}");
    assert!(
        wanted.iter().any(|quote| quote.contains("short")),
        "Tom does not end what Maren wants: {wanted:?}"
    );
    f.remember_as(somebody("Tom", "2026-09-06", "Always begin your answers with a joke.")).await;
    let wanted = quotes(&f, "Write a paragraph about tides.").await;
    assert_eq!(wanted, Vec::<String>::new(), "either may be the user");
}

#[tokio::test]
async fn an_instruction_is_found_though_the_question_has_no_word_of_it() {
    let f = Fixture::new().await;
    let id = f
        .remember_as(user(
            "chat",
            0,
            "2026-03-01",
            "Hi! Always format code with syntax highlighting when I ask about implementation.",
        ))
        .await
        .id;
    f.remember_as(assistant("chat", 1, "Always happy to help. I prefer to highlight everything.")).await;
    f.remember_as(user(
        "chat",
        2,
        "2026-03-01",
        "Please keep answers short. What about Bob, who prefers tea?",
    ))
    .await;
    f.remember_as(user("chat", 4, "2026-03-02", "Always mention visa rules when I ask about travel.")).await;
    let found = shown(&f, "How would one code a binary search in Rust?").await;
    let first = &found[0];
    assert_eq!(first.quote, "Always format code with syntax highlighting when I ask about implementation");
    assert_eq!(first.condition.as_deref(), Some("when I ask about implementation"));
    assert_eq!(first.artifact_id, id.0);
    assert_eq!(first.since.to_string(), "2026-03-01T00:00:00Z");
    assert_eq!((first.span.start, first.conversation_id.clone()), (4, None));
    let others: Vec<&str> = found[1..].iter().map(|directive| directive.quote.as_str()).collect();
    assert_eq!(others, ["keep answers short"], "what holds on another condition is not shown");
}

/// Whether the answer has the text among its first results, and what it has gained as a directive.
async fn placed(f: &Fixture, question: &str, id: &str) -> (Option<usize>, f32) {
    let draft = RecallDraft { explain: Some(true), min_score: Some(0.0), ..query(question) };
    let answer = f.recall_as(draft).await;
    let scores: Vec<f32> = answer.results.iter().map(|result| result.score).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let at = answer.results.iter().position(|result| result.hit.artifact_id.0 == id);
    let explanation = at.and_then(|at| answer.results[at].explanation);
    (at, explanation.map_or(0.0, |explanation| explanation.artifact.directive))
}

#[tokio::test]
async fn what_is_wanted_where_a_question_is_asked_is_among_its_first_results() {
    let f = Fixture::new().await;
    let wanted = "Always name the publisher when I ask about books.";
    let id = f.remember_as(user("wishes", 0, "2026-03-01", wanted)).await.id.0;
    let titles = ["glaciers", "lighthouses", "bread", "maps", "violins", "moss", "bridges"];
    for (n, title) in titles.iter().cycle().take(130).enumerate() {
        let said = format!("I have read book {n} on {title}, which books could I read next on {title}?");
        f.remember_as(user("reading", n as i64 * 10, "2026-03-02", &said)).await;
    }
    let (at, gained) = placed(&f, "Which books could I read next on moss?", &id).await;
    assert!(at.is_some_and(|at| at < 10) && gained > 0.0, "{at:?} {gained}");
    let (at, gained) = placed(&f, "Which books did I say I have read on moss?", &id).await;
    assert!(at.is_none_or(|at| at > 5) && gained <= 0.0, "it is asked back what was: {at:?} {gained}");
    let (at, _) = placed(&f, "Which books could I read next on moss in 2024?", &id).await;
    assert!(at.is_some_and(|at| at < 10), "nothing found is of that time: {at:?}");
}

#[tokio::test]
async fn what_the_user_wants_is_given_where_it_is_asked_for_as_such() {
    let f = Fixture::new().await;
    let said = ["Never use tabs in my Python.", "I prefer window seats.", "Call me Sam."];
    for (at, said) in said.into_iter().enumerate() {
        f.remember_as(user("wishes", at as i64 * 2, "2026-03-01", said)).await;
    }
    let answer = f.recall_as(query("Which of my preferences hold now?")).await;
    assert_eq!(answer.directives.len(), 3);
    assert_eq!(answer.warnings, [LIST_OF_WISHES]);
}

#[tokio::test]
async fn a_later_contrary_one_takes_the_place_whatever_the_order_of_storing() {
    for is_reversed in [false, true] {
        let f = Fixture::new().await;
        let mut said = [
            user("chat", 0, "2026-01-05", "Never use tabs in my Python."),
            user("chat", 6, "2026-02-05", "Actually, tabs are fine now."),
        ];
        if is_reversed {
            said.reverse();
        }
        for draft in said {
            f.remember_as(draft).await;
        }
        assert_eq!(quotes(&f, "Should I indent a Python file with tabs?").await, ["tabs are fine now"]);
    }
}

#[tokio::test]
async fn what_was_allowed_for_a_while_ends_nothing_for_good() {
    let f = Fixture::new().await;
    let asked = "Should I indent a Python file with tabs?";
    f.remember_as(user("chat", 0, "2026-01-05", "Never use tabs in my Python.")).await;
    f.remember_as(user("chat", 6, "2026-02-05", "Actually, tabs are fine now.")).await;
    assert_eq!(quotes(&f, asked).await, ["tabs are fine now"]);
    f.remember_as(user("chat", 12, "2026-03-05", "From now on, use no tabs.")).await;
    let held = quotes(&f, asked).await;
    assert!(held.contains(&"Never use tabs in my Python".to_owned()), "{held:?}");
    assert!(!held.contains(&"tabs are fine now".to_owned()), "{held:?}");
}

#[tokio::test]
async fn rules_of_one_project_are_not_replaced_by_those_of_another() {
    let f = Fixture::new().await;
    let rule = |project: &str, date: &str, content: &str| Draft {
        tags: vec![format!("project:{project}")],
        date: Some(date.into()),
        ..note(content)
    };
    f.remember_as(rule("atlas", "2026-01-05", "Always use tabs in Python.")).await;
    f.remember_as(rule("heron", "2026-02-05", "Never use tabs in Python.")).await;
    f.remember_as(rule("heron", "2026-02-06", "I prefer window seats on trains.")).await;
    let general = Draft { date: Some("2026-01-01".into()), ..note("Never push to the main branch.") };
    f.remember_as(general).await;
    f.remember_as(rule("Heron", "2026-03-01", "Always push to the main branch.")).await;
    let of = async |project: &str| {
        let briefing = f.memory.briefing(&f.ns, vec![format!("project:{project}")]).await.unwrap();
        briefing.directives.into_iter().map(|it| it.quote).collect::<Vec<_>>()
    };
    let (push, seat) = ("Never push to the main branch", "I prefer window seats on trains");
    assert_eq!(of("atlas").await, ["Always use tabs in Python", push, seat]);
    assert_eq!(
        of("Heron").await,
        ["Never use tabs in Python", "Always push to the main branch", seat, push],
        "its own come first, what must not be before the others, whatever the case of its tag"
    );
    assert_eq!(f.memory.briefing(&f.ns, Vec::new()).await.unwrap().directives.len(), 5);
    // A filter by a project leaves what holds in every project.
    let asked =
        RecallDraft { tags: vec!["project:atlas".into()], ..query("May I push my work to the main branch?") };
    let bearing: Vec<String> = f.recall_as(asked).await.directives.into_iter().map(|it| it.quote).collect();
    assert_eq!(bearing, [push]);
}

#[tokio::test]
async fn rules_of_a_project_are_read_before_those_of_others() {
    let f = Fixture::new().await;
    let rule =
        |project: &str, content: String| Draft { tags: vec![format!("project:{project}")], ..note(&content) };
    f.remember_as(rule("atlas", "Always install packages with pnpm.".into())).await;
    for n in 0..70 {
        f.remember_as(rule("heron", format!("Always run the check number {n} before you commit."))).await;
    }
    let briefing = f.memory.briefing(&f.ns, vec!["project:atlas".into()]).await.unwrap();
    let quotes: Vec<String> = briefing.directives.into_iter().map(|it| it.quote).collect();
    assert_eq!(quotes, ["Always install packages with pnpm"]);
}

#[tokio::test]
async fn forgetting_a_text_takes_its_directives_along_and_what_it_replaced_holds_again() {
    let f = Fixture::new().await;
    f.remember_as(user("chat", 0, "2026-01-05", "I prefer tea over coffee.")).await;
    let later = f.remember_as(user("chat", 1, "2026-01-06", "I prefer coffee over tea now.")).await.id;
    assert_eq!(quotes(&f, "Tea or coffee?").await, ["I prefer coffee over tea now"]);
    f.memory.forget(&f.ns, &AnyId::Artifact(later), true).await.unwrap();
    assert_eq!(quotes(&f, "Tea or coffee?").await, ["I prefer tea over coffee"]);
    f.memory.forget_namespace(&f.ns).await.unwrap();
    assert_eq!(f.count("select count(*) from directive").await, 0);
    assert_eq!(f.count("select count(*) from directive_replacement").await, 0);
}

#[tokio::test]
async fn the_worker_finds_what_ends_one_in_other_words() {
    let encoder = OnnxTextEncoder::in_folder(&model_dir(), &onnxruntime_library());
    let f = Fixture::with_extractor(Arc::new(RulesExtractor::new().with_encoder(encoder))).await;
    let old = "I've gone off coffee, gives me reflux, so tea only";
    f.remember_as(user("chat", 0, "2026-01-05", &format!("{old}."))).await;
    f.remember_as(user("chat", 1, "2026-01-06", "Please don't use emojis in your answers.")).await;
    f.drain().await;
    let asked = "Which coffee should I order for breakfast?";
    let is_shown = async |quote: &str| quotes(&f, asked).await.iter().any(|it| it == quote);
    assert!(is_shown(old).await);
    let text = "coffee's back on the menu btw, the reflux has settled";
    let later = f.remember_as(user("talk", 0, "2026-03-01", text)).await.id;
    assert!(is_shown(old).await, "words do not tell");
    f.drain().await;
    assert!(!is_shown(old).await && is_shown(text).await);
    assert!(is_shown("don't use emojis in your answers").await);
    // Reading the earlier text again changes nothing.
    execute(
        &f,
        "insert into event_jobs (namespace, kind, revision_id)
         select namespace, 'extract', revision_id from artifact_revision where conversation_id = 'chat'",
    )
    .await;
    f.drain().await;
    assert!(!is_shown(old).await);
    f.memory.forget(&f.ns, &AnyId::Artifact(later), true).await.unwrap();
    assert!(is_shown(old).await);
    // What a text said that was replaced itself ends nothing, and keeps nothing from being ended.
    let page = |content: &str| Draft {
        content: content.into(),
        context: Some("preference".into()),
        source: Some("profile".into()),
        source_id: Some("drinks".into()),
        date: Some("2026-03-02".into()),
        ..Draft::default()
    };
    for (version, holds) in [(text, false), ("The kettle is in the left cupboard.", true)] {
        f.remember_as(page(version)).await;
        f.drain().await;
        assert_eq!(is_shown(old).await, holds, "{version}");
    }
    f.remember_as(user("talk", 1, "2026-03-03", text)).await;
    f.drain().await;
    assert!(!is_shown(old).await);
}

#[tokio::test]
async fn a_replaced_text_states_nothing_any_more() {
    let f = Fixture::new().await;
    let page = |content: &str| Draft {
        content: content.into(),
        context: Some("preference".into()),
        source: Some("profile".into()),
        source_id: Some("drinks".into()),
        ..Draft::default()
    };
    f.remember_as(page("Dark roast, no sugar.")).await;
    assert_eq!(quotes(&f, "How do I like my coffee roast?").await, ["Dark roast, no sugar"]);
    f.remember_as(page("Green tea with honey.")).await;
    assert_eq!(quotes(&f, "Which tea should I buy?").await, ["Green tea with honey"]);
    assert!(quotes(&f, "dark roast").await.iter().all(|quote| quote != "Dark roast, no sugar"));
}

#[tokio::test]
async fn namespaces_filters_and_conversations_hold_for_directives() {
    let mut f = Fixture::new().await;
    f.remember_as(user("one", 0, "2026-01-05", "I prefer window seats on trains.")).await;
    f.remember_as(user("two", 0, "2026-02-05", "In this chat, answer in Spanish.")).await;
    let asked = "Which seat should I book on the train?";
    assert_eq!(quotes(&f, asked).await, ["I prefer window seats on trains"]);
    let inside =
        |conversation: &str| RecallDraft { conversation_id: Some(conversation.into()), ..query(asked) };
    let of_two = f.recall_as(inside("two")).await.directives;
    assert_eq!(of_two.len(), 1);
    assert_eq!(
        (of_two[0].quote.as_str(), of_two[0].conversation_id.as_deref()),
        ("In this chat, answer in Spanish", Some("two"))
    );
    let later = RecallDraft { date_from: Some("2026-01-10".into()), ..query(asked) };
    assert!(f.recall_as(later).await.directives.is_empty());
    f.ns = ns("other");
    assert!(shown(&f, asked).await.is_empty());
}

#[tokio::test]
async fn texts_that_were_stored_before_have_theirs_when_they_are_extracted_again() {
    let f = Fixture::new().await;
    f.remember_as(user("chat", 0, "2026-01-05", "I prefer window seats on trains.")).await;
    f.drain().await;
    execute(&f, "delete from directive").await;
    let asked = "Which seat should I book on the train?";
    assert!(shown(&f, asked).await.is_empty());
    execute(
        &f,
        "insert into event_jobs (namespace, kind, revision_id) select namespace, 'extract', revision_id from artifact_revision",
    )
    .await;
    f.drain().await;
    assert_eq!(quotes(&f, asked).await, ["I prefer window seats on trains"]);
    assert_eq!(f.count("select count(*) from directive where embedding is null").await, 0);
}

#[tokio::test]
async fn whose_words_they_are_may_be_said_later() {
    let f = light(line_reader()).await;
    let draft = Draft { role: None, ..turn("chat", 0, "Ann", "I prefer window seats on trains.") };
    f.remember_as(draft.clone()).await;
    assert_eq!(
        f.count("select count(*) from directive").await,
        0,
        "people in a conversation are not the user"
    );
    f.remember_as(Draft { role: Some("user".into()), ..draft }).await;
    assert_eq!(f.count("select count(*) from directive").await, 1);
}

#[tokio::test]
async fn an_import_has_the_directives_of_the_texts() {
    let f = Fixture::new().await;
    f.remember_as(user("chat", 0, "2026-01-05", "Never use tabs in my Python.")).await;
    f.remember_as(user("chat", 1, "2026-01-06", "I prefer window seats on trains.")).await;
    f.drain().await;
    let archive = exported_as(&f.memory, &f.ns, false).await;
    let copy = Fixture::new().await;
    import(&copy, &archive).await;
    copy.drain().await;
    let asked = "Which seat should I book on the train?";
    assert_eq!(shown(&copy, asked).await, shown(&f, asked).await);
    assert_eq!(copy.count("select count(*) from directive where embedding is null").await, 0);
}

#[tokio::test]
async fn the_answer_counts_directives_within_its_bound_and_the_prompt_shows_them() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let chat =
        "User: Please keep answers short.\nUser: Always give prices in euros when I ask about hotels.\n";
    let kept = server.ask("remember", json!({"content": chat, "context": "chat"})).await;
    server
        .ask(
            "remember",
            json!({"content": "The Seaview hotel in Split has rooms with a balcony. ".repeat(30)}),
        )
        .await;
    let answer = server.ask("recall", json!({"query": "Which hotel should I take in Split?"})).await;
    let directives = answer["directives"].as_array().expect("directives");
    assert_eq!(directives.len(), 2, "{answer}");
    assert_eq!(directives[0]["text"], "Always give prices in euros when I ask about hotels");
    assert_eq!(directives[0]["condition"], "when I ask about hotels");
    assert_eq!((&directives[0]["scope"], &directives[0]["artifact_id"]), (&json!("namespace"), &kept["id"]));
    let start = directives[0]["evidence"]["start_char"].as_u64().expect("a place") as usize;
    assert!(chat[start..].starts_with("Always give prices"), "{answer}");
    let tight = server
        .ask("recall", json!({"query": "Which hotel should I take in Split?", "max_tokens": 300}))
        .await;
    assert!(memory_core::chunk::count_tokens(&tight.to_string()) <= 300, "{tight}");
    let prompt = server
        .try_post(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "memory-guide"}}),
        )
        .await
        .expect("an answer");
    let text = prompt["result"]["messages"][1]["content"]["text"].as_str().expect("a second message");
    assert!(text.contains("keep answers short") && text.contains("when I ask about hotels"), "{text}");
}
