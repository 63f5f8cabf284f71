//! Events by their time, newest first.

use maud::{Markup, html};
use memory_core::date::{parse_date, parse_end_date};
use memory_core::event::Category;
use memory_engine::timeline::{EventPage, EventsWanted};

use crate::failure::Failure;
use crate::fields::Fields;
use crate::show;
use crate::visit::{Answer, Visit};

const PAGE: i64 = 50;

fn wanted(fields: &Fields) -> Result<EventsWanted, Failure> {
    let categories = fields.listed("category");
    Ok(EventsWanted {
        categories: categories.iter().filter_map(|name| Category::understood(name)).collect(),
        from: fields.get("from").map(|from| parse_date("from", from)).transpose()?,
        to: fields.get("to").map(|to| parse_end_date("to", to)).transpose()?,
    })
}

fn days(visit: &Visit, page: &EventPage) -> Markup {
    let day = |at: &jiff::Timestamp| at.strftime("%Y-%m-%d").to_string();
    let mut groups: Vec<(jiff::Timestamp, Vec<Markup>)> = Vec::new();
    for (at, event) in &page.events {
        let shown = show::event(visit, event, Some(*at));
        match groups.last_mut().filter(|(last, _)| day(last) == day(at)) {
            Some((_, events)) => events.push(shown),
            None => groups.push((*at, vec![shown])),
        }
    }
    html! {
        div.timeline #days {
            @for (at, events) in &groups {
                section.day-group {
                    h2 { (show::day(*at)) }
                    div { @for event in events { (event) } }
                }
            }
        }
    }
}

pub(crate) async fn page(visit: Visit, fields: Fields) -> Answer {
    let page = visit.memory.timeline(&visit.namespace, &wanted(&fields)?, fields.get("cursor"), PAGE).await?;
    let ids = page.events.iter().map(|(_, event)| event.id.clone()).collect();
    visit.record("recall", false, ids, "ok").await;
    let categories: Vec<(&str, &str)> = std::iter::once(("", "all kinds"))
        .chain(Category::ALL.iter().map(|c| (c.as_str(), show::category_name(c.as_str()))))
        .collect();
    let field = |name: &str| fields.raw(name).unwrap_or_default().to_owned();
    let body = html! {
        div.page-head { h1 { "Timeline" } }
        form.filters-bar method="get" action=(visit.at("timeline")) {
            label { span.sr { "Kind" } select name="category" { (show::options(&categories, fields.get("category"))) } }
            label.inline { "From" input type="date" name="from" value=(field("from")); }
            label.inline { "to" input type="date" name="to" value=(field("to")); }
            button type="submit" { "Show" }
        }
        @if page.events.is_empty() {
            (show::empty("No events here", &html! { p { "Commitments, decisions, risks and the like that texts state stand here by their time." } }))
        } @else {
            (days(&visit, &page))
        }
        (show::more(page.next_cursor.as_ref().map(|cursor| format!("{}?{}", visit.at("timeline"), fields.query_with(&[("cursor", cursor)]))), "days"))
    };
    visit.page("Timeline", &body)
}
