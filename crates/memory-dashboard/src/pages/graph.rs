//! Entities and what connects them, drawn; and the same as a list.

use axum::Json;
use axum::response::IntoResponse;
use maud::{Markup, html};
use memory_core::Invalid;
use memory_engine::entity_review::EntityFilter;
use memory_engine::picture::{Edge, NODES_MAX, Node, Picture, View};
use memory_language::text::cut;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::fields::Fields;
use crate::show;
use crate::visit::{Answer, Visit};

/// The entity that is meant by its number or its name, else one whose name is like it.
async fn meant(visit: &Visit, given: Option<&str>) -> Result<Option<i64>, Failure> {
    let Some(given) = given else { return Ok(None) };
    if let Ok(id) = given.parse() {
        return Ok(Some(id));
    }
    let review = visit.memory.entity_review();
    if let Some(id) = review.named(&visit.namespace, given).await? {
        return Ok(Some(id));
    }
    let filter = EntityFilter { like: Some(cut(given, 200)), limit: 1, ..EntityFilter::default() };
    let (found, _) = review.list(&visit.namespace, &filter).await?;
    let missing = || Invalid::new(format!("Nobody and nothing here is called '{}'.", cut(given, 80)));
    Ok(Some(found.first().ok_or_else(missing)?.id))
}

async fn view(visit: &Visit, fields: &Fields) -> Result<View, Failure> {
    let mode = fields.get("mode").unwrap_or("map");
    if mode == "map" {
        return Ok(View::Map);
    }
    let id = meant(visit, fields.get("id")).await?;
    let to = if mode == "path" { meant(visit, fields.get("to")).await? } else { None };
    Ok(match (mode, id, to) {
        ("path", Some(from), Some(to)) => View::Path(from, to),
        (_, Some(id), _) => View::Focus(id),
        _ => View::Map,
    })
}

fn said(picture: &Picture) -> String {
    let drawn = picture.extracted.len() + picture.graph.len();
    match (picture.is_apart, picture.left_out) {
        (true, _) => "No way was found between these two.".to_owned(),
        (false, 0) => format!("All {drawn} entities are shown."),
        (false, left) => format!(
            "{drawn} entities are shown, those with most connections; left out: {}.",
            show::number(left)
        ),
    }
}

/// The canvas, and the list beside it.
fn drawing(visit: &Visit, picture: &Picture, data: &str) -> Markup {
    html! {
        div.graph {
            div.canvas-wrap {
                canvas #graph data-graph=(data) data-entities=(visit.at("entities")) role="img"
                    aria-label="Entities and their connections; the list beside it has the same" {}
                p.legend {
                    span.key.extracted {} "found in texts " span.key.written {} "written to the knowledge graph"
                    span.muted { " · drag to move, wheel or +/− to zoom" }
                }
            }
            div.node-list {
                h2 { "List" }
                ul tabindex="0" aria-label="Entities of the picture" {
                    @for node in &picture.extracted {
                        li {
                            button type="button" data-node=(format!("e{}", node.id)) { (show::own(&node.name)) }
                            span.muted { (node.entity_type) " · " (node.weight) }
                            a href=(visit.at(&format!("entities/{}", node.id))) aria-label=(format!("Page of {}", show::isolated(&node.name))) { "Page" }
                            a href=(format!("{}?mode=focus&id={}", visit.at("graph"), node.id)) aria-label=(format!("Focus on {}", show::isolated(&node.name))) { "Focus" }
                        }
                    }
                    @for node in &picture.graph {
                        li {
                            button type="button" data-node=(format!("g{}", node.id)) { (show::own(&node.name)) }
                            span.muted { (show::own(&node.entity_type)) " · " (node.weight) " · graph" }
                        }
                    }
                }
            }
        }
    }
}

pub(crate) async fn page(visit: Visit, fields: Fields) -> Answer {
    let picture = visit.memory.picture(&visit.namespace, view(&visit, &fields).await?).await?;
    let data = format!("{}?{}", visit.at("graph/data"), fields.query_with(&[]));
    let modes = [("map", "Map"), ("focus", "Focus"), ("path", "Path")];
    let mode = fields.get("mode").unwrap_or("map");
    let is_empty = picture.extracted.is_empty() && picture.graph.is_empty();
    let body = html! {
        div.page-head { h1 { "Graph" } }
        form.filters-bar method="get" action=(visit.at("graph")) {
            fieldset.modes {
                legend.sr { "Mode" }
                @for (value, name) in modes {
                    label { input type="radio" name="mode" value=(value) checked[mode == value]; span { (name) } }
                }
            }
            label.inline { "Entity" input type="text" name="id" list="names" value=(fields.raw("id").unwrap_or_default()) placeholder="name" maxlength="200"; }
            label.inline { "to" input type="text" name="to" list="names" value=(fields.raw("to").unwrap_or_default()) placeholder="name, for a path" maxlength="200"; }
            datalist #names { @for node in &picture.extracted { option value=(node.name) {} } }
            button type="submit" { "Show" }
        }
        p.muted role="status" { (said(&picture)) " At most " (NODES_MAX) " are drawn." }
        @if is_empty {
            (show::empty("Nothing to draw yet", &html! { p { "Entities that share events, and those of the knowledge graph with their relations, are drawn here." } }))
        } @else {
            (drawing(&visit, &picture, &data))
        }
    };
    visit.page("Graph", &body)
}

fn node(prefix: &str, node: &Node) -> Value {
    json!({
        "id": format!("{prefix}{}", node.id), "name": node.name, "type": node.entity_type, "weight": node.weight,
        "thread": node.thread,
    })
}

fn edge(prefix: &str, edge: &Edge) -> Value {
    json!({
        "source": format!("{prefix}{}", edge.from), "target": format!("{prefix}{}", edge.to), "weight": edge.weight,
        "label": edge.label,
    })
}

/// What the script draws.
pub(crate) async fn data(visit: Visit, fields: Fields) -> Answer {
    let picture = visit.memory.picture(&visit.namespace, view(&visit, &fields).await?).await?;
    let nodes =
        picture.extracted.iter().map(|n| node("e", n)).chain(picture.graph.iter().map(|n| node("g", n)));
    let edges =
        picture.shared.iter().map(|e| edge("e", e)).chain(picture.relations.iter().map(|e| edge("g", e)));
    let drawn = json!({ "nodes": nodes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>() });
    Ok(Json(drawn).into_response())
}
