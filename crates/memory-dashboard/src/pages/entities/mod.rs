//! Who and what the texts name: the list, one of them, and which may be the same.

mod merges;

pub(crate) use merges::merges;

use axum::extract::Path;
use maud::{Markup, html};
use memory_core::entity::EntityType;
use memory_engine::EngineError;
use memory_engine::entity_review::{Decided, EntityFilter, EntityPage, ListedEntity};
use memory_language::text::cut;

use crate::failure::Failure;
use crate::fields::{Fields, query};
use crate::layout::csrf;
use crate::show;
use crate::visit::{Answer, Visit};

const LIST: i64 = 100;

fn link(visit: &Visit, id: i64, name: &str) -> Markup {
    html! { a href=(visit.at(&format!("entities/{id}"))) { (show::own(name)) } }
}

fn filter(fields: &Fields, limit: i64) -> EntityFilter {
    EntityFilter {
        entity_type: fields.get("type").and_then(EntityType::parse),
        like: fields.owned("name").map(|name| cut(&name, 200)),
        limit,
    }
}

fn row(visit: &Visit, entity: &ListedEntity) -> Markup {
    html! {
        tr {
            th scope="row" {
                (link(visit, entity.id, &entity.name))
                @if !entity.merged.is_empty() { " " span.muted { "with " (show::counted(entity.merged.len() as i64, "merged entity")) } }
            }
            td { (show::type_name(&entity.entity_type)) }
            td.muted { @if !entity.aliases.is_empty() { (show::own(&cut(&entity.aliases.join(", "), 80))) } }
            td.num { (show::number(entity.mention_count)) }
            td {
                @if let Some(other) = entity.possibly_same.first() {
                    (link(visit, other.id, &other.name)) " " span.muted { (format!("{:.0} %", other.score * 100.0)) }
                }
            }
        }
    }
}

pub(crate) async fn list(visit: Visit, fields: Fields) -> Answer {
    let review = visit.memory.entity_review();
    let filter = filter(&fields, LIST);
    let (entities, total) = review.list(&visit.namespace, &filter).await?;
    let types: Vec<(&str, &str)> = std::iter::once(("", "of any kind"))
        .chain(EntityType::ALL.iter().map(|t| (t.as_str(), show::type_name(t.as_str()))))
        .collect();
    let body = html! {
        div.page-head {
            h1 { "Entities" span.count { (show::counted(total, "entity")) } }
            div.actions { a.button href=(visit.at("entities/merges")) { "Suggested merges" } }
        }
        form.filters-bar method="get" action=(visit.at("entities")) {
            label { span.sr { "Name" } input type="search" name="name" value=(fields.raw("name").unwrap_or_default()) placeholder="Name" maxlength="200"; }
            label { span.sr { "Kind" } select name="type" { (show::options(&types, fields.get("type"))) } }
            button type="submit" { "Show" }
        }
        @if entities.is_empty() {
            (show::empty("Nobody and nothing of that name", &html! { p { "People, organisations, projects and places that texts name stand here." } }))
        } @else {
            div.table-wrap tabindex="0" role="region" aria-label="Entities" {
                table {
                    thead { tr { th scope="col" { "Name" } th scope="col" { "Kind" } th scope="col" { "Also called" } th.num scope="col" { "Mentions" } th scope="col" { "Perhaps the same as" } } }
                    tbody { @for entity in &entities { (row(&visit, entity)) } }
                }
            }
            @if total > entities.len() as i64 { p.muted { "The " (entities.len()) " that are mentioned most" @if filter.like.is_none() { ", of those that the newest texts name" } "; a part of a name shows others." } }
        }
    };
    visit.page("Entities", &body)
}

/// A form that decides about two.
fn decision(visit: &Visit, action: &str, a: i64, b: i64, label: &Markup, class: &str) -> Markup {
    html! {
        form method="post" action=(visit.at("entities/decide")) {
            (csrf(visit))
            input type="hidden" name="back" value=(visit.here);
            input type="hidden" name="a" value=(a);
            input type="hidden" name="b" value=(b);
            button.(class) type="submit" name="action" value=(action) { (label) }
        }
    }
}

/// Events of an entity under what its part in them is.
const PARTS: [(&str, &[&str], &[&str]); 5] = [
    ("Promised", &["Commitment"], &["owner"]),
    ("Decided", &["Decision"], &["owner"]),
    ("Did", &["Execution", "Change", "Collaboration", "Feedback"], &["owner"]),
    ("Took part", &[], &["contributor", "reviewer", "stakeholder", "other"]),
    ("Said of it", &[], &["subject"]),
];

fn parts(visit: &Visit, page: &EntityPage) -> Markup {
    let mut shown: Vec<&str> = Vec::new();
    let groups: Vec<(&str, Vec<_>)> = PARTS
        .iter()
        .map(|(name, categories, roles)| {
            let of = page.events.iter().filter(|(role, event)| {
                roles.contains(&role.as_str())
                    && (categories.is_empty() || categories.contains(&event.category.as_str()))
            });
            (*name, of.map(|(_, event)| event).collect())
        })
        .collect();
    for (_, events) in &groups {
        shown.extend(events.iter().map(|event| event.id.as_str()));
    }
    let rest: Vec<_> = page
        .events
        .iter()
        .map(|(_, event)| event)
        .filter(|event| !shown.contains(&event.id.as_str()))
        .collect();
    let groups = groups.into_iter().chain(std::iter::once(("Further", rest)));
    html! {
        @for (name, events) in groups.filter(|(_, events)| !events.is_empty()) {
            section.panel {
                h2 { (name) span.muted { " · " (events.len()) } }
                @for event in events { (show::event(visit, event, None)) }
            }
        }
        @if page.events.is_empty() { (show::empty("No events", &html! { p { "It is named in texts, and nothing was found that it did or that is about it." } })) }
    }
}

pub(crate) async fn page(visit: Visit, Path((_, id)): Path<(String, i64)>) -> Answer {
    let review = visit.memory.entity_review();
    let page = review.page(&visit.namespace, id).await?.ok_or_else(|| Failure::missing("That entity"))?;
    let known = &page.portrait;
    let body = html! {
        div.page-head {
            div {
                p.crumbs { a href=(visit.at("entities")) { "Entities" } " / " (show::type_name(&known.entity_type)) }
                h1 { (show::own(&known.name)) }
            }
            div.actions {
                a.button href=(format!("{}{}", visit.at("graph"), query(&[("mode", "focus"), ("id", &id.to_string())]))) { "In the graph" }
                a.button href=(format!("{}{}", visit.at("search"), query(&[("q", &known.name)]))) { "Search" }
            }
        }
        @if let Some(other) = known.counts_as {
            p.notice.plain { "It was merged and counts as " a href=(visit.at(&format!("entities/{other}"))) { "another entity" } "." }
            @if visit.visitor.may_write() { (decision(&visit, "split", id, id, &html! { "Split it off again" }, "plain")) }
        }
        div.split {
            div { (parts(&visit, &page)) }
            aside { (about(&visit, &page)) }
        }
    };
    visit.page(&show::isolated(&cut(&known.name, 60)), &body)
}

fn about(visit: &Visit, page: &EntityPage) -> Markup {
    let known = &page.portrait;
    html! {
        section.panel aria-labelledby="about" {
            h2 #about { "Who is it" }
            dl.rows {
                dt { "Mentions" } dd { (show::number(known.mentions)) }
                dt { "Texts" } dd { (show::number(known.texts)) }
                @if let Some(first) = known.first_seen { dt { "First seen" } dd { (show::day(first)) } }
                @if let Some(last) = known.last_seen { dt { "Last seen" } dd { (show::day(last)) } }
                @if !known.aliases.is_empty() { dt { "Also called" } dd { @for (n, name) in known.aliases.iter().enumerate() { @if n > 0 { ", " } (show::own(name)) } } }
            }
        }
        @if !known.merged.is_empty() {
            section.panel aria-labelledby="merged" {
                h2 #merged { "Merged into it" }
                ul.plain {
                    @for merged in &known.merged {
                        li.with-action {
                            (link(visit, merged.id, &merged.name))
                            @if visit.visitor.may_write() { (decision(visit, "split", merged.id, merged.id, &html! { "Split" }, "quiet")) }
                        }
                    }
                }
            }
        }
        @if !known.possibly_same.is_empty() {
            section.panel aria-labelledby="maybe" {
                h2 #maybe { "Perhaps the same" }
                ul.plain {
                    @for other in &known.possibly_same {
                        li {
                            (link(visit, other.id, &other.name)) " " span.muted { (format!("{:.0} %", other.score * 100.0)) " · " (other.reasons.join(", ")) }
                            @if visit.visitor.may_write() {
                                div.actions {
                                    (decision(visit, "merge", known.id, other.id, &html! { "The same" }, "plain"))
                                    (decision(visit, "reject", known.id, other.id, &html! { "Not the same" }, "plain"))
                                }
                            }
                        }
                    }
                }
            }
        }
        @if !page.companions.is_empty() {
            section.panel aria-labelledby="with" {
                h2 #with { "Has to do with" }
                ul.plain.ranked {
                    @for other in &page.companions {
                        li { (link(visit, other.id, &other.name)) span.muted.end { (show::counted(other.events, "event")) } }
                    }
                }
            }
        }
    }
}

fn said(action: &str, decided: &Decided) -> String {
    let (first, second) = (show::isolated(&decided.first.1), show::isolated(&decided.second.1));
    match action {
        "merge" => format!("{second} counts as {first} from now on."),
        "split" => format!("{first} was split off {second}."),
        _ => format!("{first} and {second} are not the same; they are not suggested again."),
    }
}

/// Merge, split or reject.
pub(crate) async fn decide(visit: Visit) -> Answer {
    visit.needs_writer()?;
    let back = visit.back("entities/merges");
    let (Some(a), Some(b)) = (visit.form.number::<i64>("a"), visit.form.number::<i64>("b")) else {
        return visit.not_done(&back, "Which entities are meant is not said.");
    };
    let action = visit.form.get("action").unwrap_or_default().to_owned();
    let review = visit.memory.entity_review();
    let ns = &visit.namespace;
    let decided = match action.as_str() {
        "merge" => review.merge(ns, a, b, visit.form.has("insists")).await,
        "split" => review.split(ns, a).await,
        "reject" => review.reject(ns, a, b).await,
        "reopen" => review.reopen(ns, a, b).await,
        other => return visit.not_done(&back, format!("Nothing is done by {other:?}.")),
    };
    let outcome = if decided.is_ok() { "ok" } else { "refused" };
    visit.record(&format!("entities {action}"), true, vec![a.to_string(), b.to_string()], outcome).await;
    match decided {
        Ok(decided) => visit.done(&back, said(&action, &decided)),
        Err(EngineError::Invalid(invalid)) => visit.not_done(&back, invalid.0),
        Err(error) => Err(error.into()),
    }
}
