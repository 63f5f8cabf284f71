//! Lists of events: what was promised, decided or done, without a question.

use jiff::Timestamp;
use memory_core::entity::normalised_name;
use memory_core::event::Category;
use memory_core::id::Namespace;
use memory_store::Conn;
use memory_store::expansion;
use memory_store::listing::{self, Wanted};

use super::{Digest, EventList, Paging, Position, Recall, RecallRequest};
use crate::{EngineError, Memory};

/// The most people that one name is taken to mean.
const OWNERS_MAX: i64 = 8;

impl Memory {
    /// A page of events: commitments by their due time, what is overdue first; others newest first.
    pub(super) async fn list_events(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        list: &EventList,
    ) -> Result<Recall, EngineError> {
        let categories = categories(request, list);
        let mut conn = self.store.acquire(ns).await?;
        let mut warnings = Vec::new();
        let owners = match &list.owner {
            None => None,
            Some(name) => {
                let called = called(&mut conn, ns, name, &mut warnings).await?;
                Some(listing::counting_as(&mut conn, ns, &called).await?)
            }
        };
        let wanted = Wanted {
            categories: &categories,
            filters: &request.filters,
            owners: owners.as_deref(),
            state: list.state,
            by_due_time: categories == [Category::Commitment],
            now: Timestamp::now(),
        };
        let after = match &request.after {
            Some(Position::Event(key)) => Some(key),
            _ => None,
        };
        let limit = request.limit as i64 + 1;
        let (mut keys, total) = listing::events(&mut conn, ns, &wanted, after, limit).await?;
        let goes_on = keys.len() > request.limit;
        keys.truncate(request.limit);
        let ids: Vec<String> = keys.iter().map(|key| key.event_id.clone()).collect();
        let mut results = self.events_as_results(&mut conn, ns, request, &ids).await?;
        conn.done();
        self.add_said_later(ns, &mut results).await?;
        let question = Digest::of_question(ns, request);
        let behind: Vec<String> = keys.into_iter().map(|key| Position::Event(key).cursor(question)).collect();
        let mut answer = Recall {
            next_cursor: behind.last().filter(|_| goes_on).cloned(),
            paging: Paging::Behind(behind),
            results,
            total_events: Some(total),
            warnings,
            ..Recall::default()
        };
        match (&list.owner, owners.as_deref()) {
            (Some(name), Some([])) => answer.warnings.push(nobody_is_called(name)),
            (Some(name), Some(_)) if total == 0 => {
                answer.warnings.push(format!("No event that was asked for is of '{name}'."));
            }
            _ => {}
        }
        Ok(answer)
    }
}

fn nobody_is_called(name: &str) -> String {
    const ONESELF: [&str; 6] = ["i", "me", "myself", "self", "us", "we"];
    let hint = if ONESELF.contains(&normalised_name(name).as_str()) {
        "Give your name, as texts are remembered with it as author; what an unnamed writer promised is listed without an owner."
    } else {
        "Ask for entities by a query to see who is known."
    };
    format!("Nobody is called '{name}' here. {hint}")
}

/// "okafor" of "dr. okafor".
fn without_title(name: &str) -> Option<String> {
    const TITLES: [&str; 11] =
        ["cllr", "councillor", "dr", "miss", "mr", "mrs", "ms", "mx", "prof", "professor", "rev"];
    let (title, rest) = name.split_once(' ')?;
    TITLES.contains(&title.trim_end_matches('.')).then(|| rest.to_owned())
}

/// Those who go by a name; where it is one word those whose first or last name it is too, where it is more those who are known by
/// its first word alone, unless that may be somebody else.
async fn called(
    conn: &mut Conn,
    ns: &Namespace,
    name: &str,
    warnings: &mut Vec<String>,
) -> Result<Vec<i64>, EngineError> {
    let mut asked = normalised_name(name);
    // "dieter.maas" is known by "@dieter.maas".
    let names = [asked.clone(), format!("@{asked}")];
    let mut called = expansion::entities_called(conn, ns, &names, OWNERS_MAX).await?;
    if called.is_empty()
        && let Some(rest) = without_title(&asked)
    {
        asked = rest;
        called = expansion::entities_called(conn, ns, std::slice::from_ref(&asked), OWNERS_MAX).await?;
    }
    if asked.contains('@') {
        return Ok(called);
    }
    let first = asked.split(' ').next().unwrap_or(&asked);
    let is_word = first.len() == asked.len();
    let mut people = expansion::people_with_name_part(conn, ns, first, OWNERS_MAX + 1).await?;
    let are_more = people.len() > OWNERS_MAX as usize;
    people.truncate(OWNERS_MAX as usize);
    let (short, whole): (Vec<_>, Vec<_>) =
        people.iter().partition(|(_, known)| normalised_name(known) == first);
    let known = |people: &mut dyn Iterator<Item = &(i64, String)>| {
        let mut known: Vec<&str> = people.map(|(_, name)| name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        known.join(", ")
    };
    if is_word {
        called.extend(people.iter().map(|(id, _)| *id));
        if whole.len() > 1 {
            let (all, more) = (known(&mut people.iter()), if are_more { " and others" } else { "" });
            warnings.push(format!("'{name}' may be any of these: {all}{more}. Give the full name for one."));
        }
    } else if let Some((_, of_short)) = short.first().filter(|_| !called.is_empty()) {
        if !are_more && short.len() == 1 && whole.iter().all(|(id, _)| called.contains(id)) {
            called.extend(short.iter().map(|(id, _)| *id));
        } else {
            warnings.push(format!(
                "Events of '{of_short}' are not among them: that may be any of {}. Ask for '{of_short}' too.",
                known(&mut whole.into_iter())
            ));
        }
    }
    if called.is_empty() {
        let alike = expansion::people_spelt_alike(conn, ns, &asked, OWNERS_MAX).await?;
        if !alike.is_empty() {
            warnings.push(format!("Nobody is called '{name}' here: taken for {}.", known(&mut alike.iter())));
        }
        called.extend(alike.iter().map(|(id, _)| *id));
    }
    called.sort_unstable();
    called.dedup();
    Ok(called)
}

/// The requested categories; where a state is requested, commitments alone.
fn categories(request: &RecallRequest, list: &EventList) -> Vec<Category> {
    if list.state.is_some() {
        return vec![Category::Commitment];
    }
    if request.filters.categories.is_empty() {
        return Category::ALL.to_vec();
    }
    let mut categories = request.filters.categories.clone();
    categories.dedup();
    categories
}
