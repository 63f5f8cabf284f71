//! Asking as an agent does: what it gets, and why each result stands where it does.

use maud::{Markup, html};
use memory_core::artifact::Context;
use memory_core::chunk::TokenCounter;
use memory_core::event::Category;
use memory_core::recall::ArmPlace;
use memory_engine::recall::{Explanation, Recall, RecallDraft, RecallRequest, Recalled, TimeWindow};
use memory_language::text::cut;
use serde_json::{Value, json};

use crate::fields::Fields;
use crate::show;
use crate::visit::{Answer, Visit};

/// The request that the form means.
fn draft(fields: &Fields, query: &str) -> RecallDraft {
    RecallDraft {
        query: Some(query.to_owned()),
        context: fields.owned("context"),
        source: fields.owned("source"),
        author: fields.owned("author"),
        date_from: fields.owned("from"),
        date_to: fields.owned("to"),
        tags: fields.listed("tags"),
        min_importance: fields.number("importance"),
        categories: fields.listed("category"),
        include_superseded: Some(fields.has("superseded")),
        limit: Some(fields.number("limit").unwrap_or(10)),
        cursor: fields.owned("cursor"),
        explain: Some(true),
        ..RecallDraft::default()
    }
}

/// The same as the arguments of the tool, as an agent writes them.
fn arguments(fields: &Fields, query: &str) -> Value {
    let mut given = json!({ "query": query });
    let texts = [
        ("context", "context"),
        ("source", "source"),
        ("author", "author"),
        ("from", "date_from"),
        ("to", "date_to"),
    ];
    for (field, argument) in texts {
        if let Some(value) = fields.get(field) {
            given[argument] = json!(value);
        }
    }
    for (field, argument) in [("tags", "tags"), ("category", "categories")] {
        let values = fields.listed(field);
        if !values.is_empty() {
            given[argument] = json!(values);
        }
    }
    if let Some(importance) = fields.number::<f64>("importance") {
        given["min_importance"] = json!(importance);
    }
    if let Some(limit) = fields.number::<i64>("limit") {
        given["limit"] = json!(limit);
    }
    if fields.has("superseded") {
        given["include_superseded"] = json!(true);
    }
    given
}

fn form(visit: &Visit, fields: &Fields) -> Markup {
    let field = |name: &str| fields.raw(name).unwrap_or_default().to_owned();
    let contexts: Vec<(&str, &str)> =
        std::iter::once(("", "any")).chain(Context::ALL.iter().map(|c| (c.as_str(), c.as_str()))).collect();
    let categories: Vec<(&str, &str)> = std::iter::once(("", "any"))
        .chain(Category::ALL.iter().map(|c| (c.as_str(), show::category_name(c.as_str()))))
        .collect();
    let narrow =
        ["context", "category", "author", "source", "tags", "from", "to", "importance", "superseded"];
    html! {
        form.search role="search" method="get" action=(visit.at("search")) {
            label.sr for="q" { "Question" }
            div.ask {
                input #q type="search" name="q" value=(field("q")) placeholder="What did we decide about the release?"
                    maxlength="2000" data-focus;
                button.primary type="submit" { "Search" }
            }
            details.filters open[narrow.iter().any(|name| fields.has(name))] {
                summary { "Filters" }
                div.filter-fields {
                    label { "Kind" select name="context" { (show::options(&contexts, fields.get("context"))) } }
                    label { "With events of" select name="category" { (show::options(&categories, fields.get("category"))) } }
                    label { "Author" input type="text" name="author" value=(field("author")) maxlength="500"; }
                    label { "Source" input type="text" name="source" value=(field("source")) maxlength="500"; }
                    label { "Tags" input type="text" name="tags" value=(field("tags")) placeholder="one, two" maxlength="2000"; }
                    label { "From" input type="date" name="from" value=(field("from")); }
                    label { "To" input type="date" name="to" value=(field("to")); }
                    label { "Importance at least" input type="number" name="importance" min="0" max="1" step="0.05" value=(field("importance")); }
                    label.check { input type="checkbox" name="superseded" value="1" checked[fields.has("superseded")]; "Outdated texts as well" }
                }
            }
        }
    }
}

fn window(window: &TimeWindow) -> Markup {
    html! {
        p.window {
            (show::chip("info", "time"))
            " \"" (show::own(&window.phrase)) "\" was read as "
            @match (window.from, window.to) {
                (Some(from), Some(to)) => { (show::day(from)) " until " (show::day(to)) },
                (Some(from), None) => { "from " (show::day(from)) " on" },
                (None, Some(to)) => { "before " (show::day(to)) },
                (None, None) => "any time",
            }
            span.muted { " · sureness " (format!("{:.0}", window.certainty * 100.0)) " %" }
            @if window.is_unmatched { span.muted { " · nothing found is of that time" } }
        }
    }
}

/// The shares of a result's score, largest first.
fn shares(explanation: &Explanation) -> Vec<(&'static str, f32, String)> {
    let arm = |name: &'static str, what: &str, place: Option<ArmPlace>| {
        place.map(|p| (name, p.share, format!("rank {}, {what} {:.3}", p.rank, p.score)))
    };
    let part = |name: &'static str, share: f32, what: &str| {
        (share.abs() >= 0.0005).then(|| (name, share, what.to_owned()))
    };
    let score = &explanation.artifact;
    let mut all: Vec<(&'static str, f32, String)> = [
        arm("Words", "BM25", explanation.lexical),
        arm("Vector", "cosine", explanation.vector),
        arm("Late interaction", "likeness", explanation.late),
        arm("Reranker", "judgement", score.reranker),
        part("Conversation", score.neighbourhood, "the best turns around it and of its conversation"),
        part("Said by another", score.speaker, "taken off, since the question names somebody else"),
        part("Asks itself", score.question, "taken off, since it ends with a question"),
        part("Age", score.age, "taken off since a newer text like it was found, or added to the newer one"),
        part("Time", score.time, "the time asked for"),
        part("Priors", score.priors, "importance and newness"),
        part("Place", score.place, "before outdated texts of its place"),
        part("Directive", score.directive, "what is wanted where this is asked"),
        part("Length", score.length, "taken off for its length"),
        part("Role", score.role, "an assistant said it"),
    ]
    .into_iter()
    .flatten()
    .collect();
    all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    all
}

fn explained(result: &Recalled) -> Markup {
    let Some(explanation) = &result.explanation else { return html! {} };
    let shares = shares(explanation);
    html! {
        details.why {
            summary { "Why it was found" }
            table.shares {
                thead { tr { th scope="col" { "Stage" } th scope="col" { "Share of the score" } th.num scope="col" { "Adds" } th scope="col" { "How" } } }
                tbody {
                    @for (name, share, how) in &shares {
                        tr {
                            th scope="row" { (name) }
                            td { (show::share(share.abs() / result.score.max(0.001), name)) }
                            td.num { (format!("{share:+.3}")) }
                            td.muted { (how) }
                        }
                    }
                }
            }
            @if explanation.sureness < 0.995 {
                p.muted { "All shares were lowered to " (format!("{:.0}", explanation.sureness * 100.0)) " %: the best that was found answers little." }
            }
        }
    }
}

fn result(visit: &Visit, result: &Recalled) -> Markup {
    let hit = &result.hit;
    let title = cut(hit.title.as_deref().unwrap_or(&result.snippet), 160);
    html! {
        article.result {
            div.result-head {
                h2 { a href=(visit.at(&format!("memory/{}", hit.artifact_id))) { (show::own(&title)) } }
                span.score { "score " (format!("{:.2}", result.score)) }
            }
            p.meta {
                (show::chip("plain", &hit.context)) " " (show::day(hit.date))
                @if let Some(author) = &hit.author { " · " (show::own(&cut(author, 80))) }
                @if let Some(source) = &hit.source { " · " (show::own(&cut(source, 80))) }
                @if !hit.is_latest { " " (show::chip("warn", "outdated")) }
                @if hit.is_unread { " " (show::chip("plain", "not read yet")) }
            }
            p.snippet { (show::own(&result.snippet)) }
            @if !hit.events.is_empty() {
                ul.found-events {
                    @for event in hit.events.iter().take(3) {
                        li { (show::chip(&format!("cat-{}", event.category.to_lowercase()), show::category_name(&event.category))) " " (show::own(&event.narrative)) }
                    }
                }
            }
            (explained(result))
        }
    }
}

/// What stands beside the results: entities, facts and related events.
fn beside(visit: &Visit, answer: &Recall) -> Markup {
    html! {
        @if !answer.entities.is_empty() {
            section.panel aria-labelledby="who" {
                h2 #who { "Entities" }
                p.names { (show::entities(visit, &answer.entities)) }
            }
        }
        @if !answer.facts.is_empty() {
            section.panel aria-labelledby="facts" {
                h2 #facts { "Facts of the knowledge graph" }
                ul.plain { @for fact in &answer.facts { li { strong { (show::own(&fact.stored.entity)) } " " (show::own(&fact.stored.observation)) } } }
            }
        }
        @if !answer.related.is_empty() {
            section.panel aria-labelledby="related" {
                h2 #related { "Related events" }
                ul.plain {
                    @for event in &answer.related {
                        li {
                            (show::chip(&format!("cat-{}", event.category.to_lowercase()), show::category_name(&event.category)))
                            " " a href=(visit.at(&format!("memory/{}", event.artifact_id))) { (show::own(&event.narrative)) }
                        }
                    }
                }
            }
        }
    }
}

fn results(visit: &Visit, fields: &Fields, answer: &Recall, agent: &Result<Value, String>) -> Markup {
    let as_sent = match agent {
        Ok(value) => serde_json::to_string_pretty(value).unwrap_or_default(),
        Err(reason) => reason.clone(),
    };
    let tokens = match agent {
        Ok(value) => TokenCounter::default().count(&value.to_string()),
        Err(_) => 0,
    };
    html! {
        @for warning in &answer.warnings { p.notice.plain { (warning) } }
        @if let Some(found) = &answer.time_window { (window(found)) }
        @for directive in &answer.directives {
            p.directive { (show::chip("info", "the user wants")) " " (show::own(directive.sentence.as_ref().unwrap_or(&directive.quote))) }
        }
        @if answer.results.is_empty() {
            (show::empty("Nothing was found", &html! { p { "Ask with other words, or with fewer filters." } }))
        } @else {
            div #found { @for found in &answer.results { (result(visit, found)) } }
        }
        (show::more(answer.next_cursor.as_ref().map(|cursor| format!("{}?{}", visit.at("search"), fields.query_with(&[("cursor", cursor)]))), "found"))
        (beside(visit, answer))
        @if fields.get("cursor").is_none() {
            details.panel.agent {
                summary { "The answer as an agent gets it" span.muted { " · " (show::number(tokens as i64)) " tokens" } }
                pre tabindex="0" { code { (as_sent) } }
            }
        }
    }
}

pub(crate) async fn page(visit: Visit, fields: Fields) -> Answer {
    let Some(query) = fields.get("q") else {
        let body = html! {
            div.page-head { h1 { "Search" } }
            (form(&visit, &fields))
            (show::empty("Ask as an agent does", &html! {
                p { "Words and meaning are searched together; dates such as \"last week\" are understood. Each result says why it was found." }
            }))
        };
        return visit.page("Search", &body);
    };
    let asked = async {
        let request = RecallRequest::new(draft(&fields, query))?;
        visit.memory.recall(&visit.namespace, &request).await
    };
    let as_agent = (visit.dashboard.options.ask_agent)(visit.namespace.clone(), arguments(&fields, query));
    let (answer, agent) = futures::join!(asked, as_agent);
    let shown = match &answer {
        Ok(answer) => results(&visit, &fields, answer, &agent),
        Err(error) => html! { p.notice.bad role="alert" { (error.to_string()) } },
    };
    let ids = answer.iter().flat_map(|answer| &answer.results).map(|r| r.hit.artifact_id.0.clone());
    visit.record("recall", false, ids.collect(), if answer.is_ok() { "ok" } else { "refused" }).await;
    let body = html! {
        div.page-head { h1 { "Search" } }
        (form(&visit, &fields))
        div #results aria-live="polite" { (shown) }
    };
    visit.page("Search", &body)
}
