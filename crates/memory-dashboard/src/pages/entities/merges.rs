//! Which entities may be one, side by side with what speaks for it; and what was decided, to be undone.

use maud::{Markup, html};
use memory_engine::entity_review::{DecidedPair, DoubtfulPair, Side, Told};
use memory_language::text::cut;

use super::{decision, filter, link};
use crate::fields::Fields;
use crate::show;
use crate::visit::{Answer, Visit};

const PAIRS: i64 = 10;
const DECIDED: i64 = 20;

fn told(visit: &Visit, heading: &str, all: &[Told]) -> Markup {
    html! {
        @if !all.is_empty() {
            h3 { (heading) }
            ul.plain {
                @for one in all {
                    li {
                        (show::own(&cut(&one.text.split_whitespace().collect::<Vec<_>>().join(" "), 170))) " "
                        a.source href=(visit.at(&format!("memory/{}", one.artifact_id))) { "in its text" }
                    }
                }
            }
        }
    }
}

fn side(visit: &Visit, id: i64, name: &str, mentions: i64, side: Option<&Side>) -> Markup {
    // What an event says already is not said again.
    let is_new = |told: &&Told| {
        side.is_some_and(|side| !side.events.iter().any(|event| told.text.contains(event.text.as_str())))
    };
    let further: Vec<Told> = side.iter().flat_map(|side| &side.mentions).filter(is_new).cloned().collect();
    html! {
        div.side-of-pair {
            h2 { (link(visit, id, name)) }
            p.muted {
                (show::counted(mentions, "mention"))
                @if let Some(last) = side.and_then(|side| side.last_seen) { ", last seen " (show::day(last)) }
            }
            @if let Some(side) = side {
                @if !side.aliases.is_empty() { p { span.muted { "also " } (show::own(&cut(&side.aliases.join(", "), 160))) } }
                @if !side.companions.is_empty() { p { span.muted { "with " } (show::own(&cut(&side.companions.join(", "), 160))) } }
                (told(visit, "Events", &side.events))
                (told(visit, "Named in", &further))
            }
        }
    }
}

fn pair(visit: &Visit, pair: &DoubtfulPair, sides: &[Side]) -> Markup {
    let of = |id: i64| sides.iter().find(|side| side.id == id);
    // The one that is named more often is the likelier name, then the longer one.
    let weight = |mentions: i64, name: &str| (mentions, name.chars().count());
    let is_first = weight(pair.a_mentions, &pair.a_name) >= weight(pair.b_mentions, &pair.b_name);
    let (likely, other) = if is_first { ("primary", "plain") } else { ("plain", "primary") };
    html! {
        article.panel.pair {
            p.pair-head {
                (show::chip("warn", &format!("{:.0} % alike", pair.score * 100.0))) " "
                (show::type_name(&pair.entity_type)) span.muted { " · " (pair.reasons.join(", ")) }
            }
            div.pair-sides {
                (side(visit, pair.a_id, &pair.a_name, pair.a_mentions, of(pair.a_id)))
                (side(visit, pair.b_id, &pair.b_name, pair.b_mentions, of(pair.b_id)))
            }
            @if visit.visitor.may_write() {
                div.actions {
                    (decision(visit, "merge", pair.a_id, pair.b_id, &keep(&pair.a_name), likely))
                    (decision(visit, "merge", pair.b_id, pair.a_id, &keep(&pair.b_name), other))
                    (decision(visit, "reject", pair.a_id, pair.b_id, &html! { "Not the same" }, "plain"))
                }
            }
        }
    }
}

fn keep(name: &str) -> Markup {
    html! { span { "The same: keep " (show::own(&cut(name, 40))) } }
}

fn decided(visit: &Visit, pair: &DecidedPair) -> Markup {
    let (first, second) = (pair.first_id, pair.second_id);
    html! {
        li.with-action {
            span {
                (link(visit, first, &pair.first_name))
                @if pair.is_merge { " counts as " } @else { " is not " }
                (link(visit, second, &pair.second_name))
            }
            @if visit.visitor.may_write() {
                @if pair.is_merge { (decision(visit, "split", first, first, &html! { "Split" }, "small")) }
                @else { (decision(visit, "reopen", first, second, &html! { "Ask again" }, "small")) }
            }
        }
    }
}

pub(crate) async fn merges(visit: Visit, fields: Fields) -> Answer {
    let review = visit.memory.entity_review();
    let ns = &visit.namespace;
    let (pairs, total) = review.list_doubtful_pairs(ns, &filter(&fields, PAIRS)).await?;
    let ids: Vec<i64> = pairs.iter().flat_map(|pair| [pair.a_id, pair.b_id]).collect();
    let (sides, before) = futures::try_join!(review.sides(ns, &ids), review.list_decided_pairs(ns, DECIDED))?;
    let body = html! {
        div.page-head {
            div { p.crumbs { a href=(visit.at("entities")) { "Entities" } } h1 { "Suggested merges" span.count { (show::counted(total, "pair")) } } }
        }
        @if pairs.is_empty() {
            (show::empty("Nothing to decide", &html! { p { "Two entities that may be one show up here, with what speaks for it." } }))
        }
        @for doubtful in &pairs { (pair(&visit, doubtful, &sides)) }
        @if total > pairs.len() as i64 { p.muted { "The likeliest " (pairs.len()) "; more come when these are decided." } }
        @if !before.is_empty() {
            section.panel aria-labelledby="decided" {
                h2 #decided { "Decided" }
                ul.plain { @for pair in &before { (decided(&visit, pair)) } }
            }
        }
    };
    visit.page("Suggested merges", &body)
}
