//! What was promised, what is overdue first, and what was decided.

use maud::{Markup, html};
use memory_core::commitment::CommitmentState;
use memory_engine::recall::{Recall, RecallDraft, RecallRequest};

use crate::failure::Failure;
use crate::fields::Fields;
use crate::show;
use crate::visit::{Answer, Visit};

async fn listed(visit: &Visit, category: &str, fields: &Fields) -> Result<Recall, Failure> {
    let draft = RecallDraft {
        categories: vec![category.to_owned()],
        owner: fields.owned("owner"),
        state: fields.owned("state"),
        date_from: fields.owned("from"),
        date_to: fields.owned("to"),
        cursor: fields.owned("cursor"),
        limit: Some(50),
        ..RecallDraft::default()
    };
    let found = visit.memory.recall(&visit.namespace, &RecallRequest::new(draft)?).await?;
    let ids = found.results.iter().map(|result| result.hit.artifact_id.0.clone()).collect();
    visit.record("recall", false, ids, "ok").await;
    Ok(found)
}

fn list(visit: &Visit, found: &Recall, page: &str, fields: &Fields, nothing: &str) -> Markup {
    html! {
        @for warning in &found.warnings { p.notice.plain { (warning) } }
        @if found.results.is_empty() {
            (show::empty(nothing, &html! { p { "They are found in texts by the event worker." } }))
        } @else {
            div.cards #list {
                @for result in &found.results {
                    @for event in result.hit.events.iter().filter(|event| result.event_id.as_ref().is_none_or(|id| id.0 == event.id)) {
                        (show::event(visit, event, None))
                    }
                }
            }
        }
        (show::more(found.next_cursor.as_ref().map(|cursor| format!("{}?{}", visit.at(page), fields.query_with(&[("cursor", cursor)]))), "list"))
    }
}

fn owner_field(fields: &Fields) -> Markup {
    html! {
        label.inline { "Of" input type="text" name="owner" value=(fields.raw("owner").unwrap_or_default()) placeholder="anybody" maxlength="500"; }
    }
}

pub(crate) async fn commitments(visit: Visit, fields: Fields) -> Answer {
    let found = listed(&visit, "Commitment", &fields).await?;
    let states: Vec<(&str, &str)> = std::iter::once(("", "in any state"))
        .chain(CommitmentState::ALL.iter().map(|state| (state.as_str(), state.as_str())))
        .collect();
    let body = html! {
        div.page-head { h1 { "Commitments" span.count { (show::counted(found.total_events.unwrap_or(0), "commitment")) } } }
        form.filters-bar method="get" action=(visit.at("commitments")) {
            label { span.sr { "State" } select name="state" { (show::options(&states, fields.get("state"))) } }
            (owner_field(&fields))
            button type="submit" { "Show" }
        }
        (list(&visit, &found, "commitments", &fields, "No commitments here"))
    };
    visit.page("Commitments", &body)
}

pub(crate) async fn decisions(visit: Visit, fields: Fields) -> Answer {
    let found = listed(&visit, "Decision", &fields).await?;
    let body = html! {
        div.page-head { h1 { "Decisions" span.count { (show::counted(found.total_events.unwrap_or(0), "decision")) } } }
        form.filters-bar method="get" action=(visit.at("decisions")) {
            (owner_field(&fields))
            label.inline { "From" input type="date" name="from" value=(fields.raw("from").unwrap_or_default()); }
            label.inline { "to" input type="date" name="to" value=(fields.raw("to").unwrap_or_default()); }
            button type="submit" { "Show" }
        }
        (list(&visit, &found, "decisions", &fields, "No decisions here"))
    };
    visit.page("Decisions", &body)
}
