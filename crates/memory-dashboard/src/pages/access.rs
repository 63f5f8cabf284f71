//! Keys, and what was done with them.

use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use memory_core::access::{Grant, Role};
use memory_core::id::Namespace;
use memory_engine::EngineError;
use memory_engine::access::{KeyRow, KeyState};
use memory_engine::audit::{AuditFilter, Recorded};
use memory_language::text::cut;

use crate::door::Who;
use crate::fields::Fields;
use crate::layout::csrf;
use crate::show;
use crate::visit::{Answer, Visit};

const KEYS: i64 = 200;
const ENTRIES: i64 = 100;
/// For how long the present secret of a key goes on after another was drawn, in minutes.
const OVERLAP_MINUTES: i32 = 60;

fn key_row(visit: &Visit, key: &KeyRow) -> Markup {
    let state = match key.state {
        KeyState::Live => "good",
        KeyState::Expired => "warn",
        KeyState::Revoked => "plain",
    };
    let namespaces: Vec<&str> = key.grant.namespaces().iter().map(Namespace::as_str).collect();
    let button = |action: &str, label: &str, class: &str| {
        html! {
            form method="post" action=(visit.at("keys")) {
                (csrf(visit))
                input type="hidden" name="id" value=(key.id.as_str());
                button.small.(class) type="submit" name="action" value=(action) aria-label=(format!("{label} {}", show::isolated(&key.grant.name))) { (label) }
            }
        }
    };
    html! {
        tr {
            th scope="row" { (show::own(&key.grant.name)) " " code.muted { (key.id.as_str()) } }
            td { (show::chip(state, key.state.as_str())) }
            td { (key.grant.role.as_str()) }
            td { (namespaces.join(", ")) @if !key.grant.toolsets.is_empty() { " " span.muted { "sets " (key.grant.toolsets.join(", ")) } } }
            td.nowrap { (show::day(key.created_at)) }
            td.nowrap { @match key.expires_at { Some(at) => (show::day(at)), None => span.muted { "never" } } }
            td.nowrap { @match key.last_used_at { Some(at) => (show::ago(at)), None => span.muted { "never" } } }
            td.row-actions {
                @if key.state == KeyState::Live { (button("rotate", "Rotate", "plain")) (button("revoke", "Revoke", "danger")) }
                @else { (button("delete", "Delete", "plain")) }
            }
        }
    }
}

pub(crate) async fn keys(visit: Visit) -> Answer {
    visit.needs_owner()?;
    let keys = visit.memory.access().list(KEYS).await?;
    let roles: Vec<(&str, &str)> = Role::ALL.iter().map(|role| (role.as_str(), role.as_str())).collect();
    let body = html! {
        div.page-head { h1 { "Keys" } }
        @if keys.is_empty() {
            p.notice.plain {
                "There is no key: whoever reaches this machine's loopback address may do everything. With the first key everybody needs one, here too: "
                "keep it at hand to sign in."
            }
        } @else {
            div.table-wrap tabindex="0" role="region" aria-label="Keys" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Name" } th scope="col" { "State" } th scope="col" { "Role" } th scope="col" { "Namespaces" }
                            th scope="col" { "Made" } th scope="col" { "Expires" } th scope="col" { "Last used" } th scope="col" { span.sr { "Actions" } }
                        }
                    }
                    tbody { @for key in &keys { (key_row(&visit, key)) } }
                }
            }
        }
        section.panel aria-labelledby="new" {
            h2 #new { "A new key" }
            form.stack method="post" action=(visit.at("keys")) {
                (csrf(&visit))
                div.filter-fields {
                    label { "Name" input type="text" name="name" required maxlength="64"; }
                    label { "Role" select name="role" { (show::options(&roles, Some("writer"))) } }
                    label { "Namespaces" input type="text" name="namespaces" required value=(visit.namespace.as_str()) maxlength="6500"; }
                    label { "Expires after days" input type="number" name="days" min="1" max="3650" placeholder="never"; }
                }
                button.primary type="submit" name="action" value="create" { "Make it" }
            }
        }
    };
    visit.page("Keys", &body)
}

/// What a key that was made or rotated is, on the answer itself: the first key ends the session that made it.
fn shown_once(visit: &Visit, done: &Secret) -> Answer {
    let body = html! {
        div.page-head { h1 { "Keys" } }
        div.panel.stack role="status" {
            p { (done.said) }
            p { code.secret { (done.key) } }
            p { "It is shown this once: copy it now, it cannot be shown again." }
            @if visit.visitor.who == Who::Anyone {
                p { "From now on everybody needs a key, here too. Other keys are made by " code { "remembrancer keys create" } ", or here with the password that " code { "remembrancer password set" } " sets." }
            }
            p.actions { a.button href=(visit.at("keys")) { "Go on" } }
        }
    };
    visit.page("Keys", &body)
}

/// The text of a key.
struct Secret {
    said: String,
    key: String,
}

async fn create(visit: &Visit) -> Result<Secret, EngineError> {
    let form = &visit.form;
    let namespaces: Vec<Namespace> =
        form.listed("namespaces").iter().map(|name| Namespace::new(name)).collect::<Result<_, _>>()?;
    let role = form.get("role").and_then(Role::parse).unwrap_or(Role::Reader);
    let grant = Grant::new(form.get("name").unwrap_or_default(), role, namespaces, Vec::new())?;
    let days = form.number::<i64>("days").map(|days| days.clamp(1, 3_650));
    let expires_at = days.map(|days| Timestamp::now() + SignedDuration::from_hours(24 * days));
    let drawn = visit.memory.access().create(&grant, expires_at).await?;
    Ok(Secret { said: format!("The key {:?} was made:", grant.name), key: drawn.text })
}

/// Make, rotate, revoke or delete. The engine records it.
pub(crate) async fn change_key(visit: Visit) -> Answer {
    visit.needs_owner()?;
    visit.needs_writer()?;
    let page = visit.at("keys");
    let id = visit.form.get("id").unwrap_or_default();
    let access = visit.memory.access();
    let rotated = async || {
        let (key, drawn) = access.rotate(id, OVERLAP_MINUTES).await?;
        let name = key.grant.name;
        let said = format!("The new secret of {name:?}; the one before opens for an hour more:");
        Ok::<_, EngineError>(Secret { said, key: drawn.text })
    };
    let drawn = match visit.form.get("action").unwrap_or_default() {
        "create" => Some(create(&visit).await),
        "rotate" => Some(rotated().await),
        _ => None,
    };
    let changed = match (drawn, visit.form.get("action").unwrap_or_default()) {
        (Some(Ok(secret)), _) => return shown_once(&visit, &secret),
        (Some(Err(error)), _) => Err(error),
        (None, "revoke") => {
            access.revoke(id).await.map(|key| format!("{:?} opens nothing any more.", key.grant.name))
        }
        (None, "delete") => {
            access.delete(id).await.map(|key| format!("{:?} is gone from the list.", key.grant.name))
        }
        (None, other) => return visit.not_done(&page, format!("Nothing is done by {other:?}.")),
    };
    match changed {
        Ok(said) => visit.done(&page, said),
        Err(EngineError::Invalid(invalid)) => visit.not_done(&page, invalid.0),
        Err(error) => Err(error.into()),
    }
}

fn entry(visit: &Visit, entry: &Recorded) -> Markup {
    html! {
        tr {
            td.nowrap { (show::time(entry.at)) }
            th scope="row" { (show::own(&entry.who)) @if let Some(key) = &entry.key_id { " " code.muted { (key) } } }
            td { (show::own(&entry.action)) }
            td { (show::own(entry.namespace.as_deref().unwrap_or("–"))) }
            td.ids {
                @for id in entry.ids.iter().take(4) {
                    @if id.starts_with("art_") && entry.namespace.as_deref() == Some(visit.namespace.as_str()) {
                        a href=(visit.at(&format!("memory/{id}"))) { code { (id) } }
                    } @else { code { (show::own(&cut(id, 60))) } }
                    " "
                }
                @if entry.ids.len() > 4 { span.muted { "and " (entry.ids.len() - 4) " more" } }
            }
            td { (show::chip(if entry.outcome == "ok" { "good" } else { "bad" }, &entry.outcome)) }
        }
    }
}

pub(crate) async fn audit(visit: Visit, fields: Fields) -> Answer {
    visit.needs_admin()?;
    // A key sees entries of its namespaces alone; those of no namespace are of keys, which it does not manage.
    let namespace = (!visit.visitor.is_owner()).then(|| visit.namespace.clone());
    let filter = AuditFilter {
        namespace,
        who: fields.owned("who"),
        id: fields.owned("id"),
        action: fields.owned("action"),
        before: fields.number("before"),
    };
    let entries = visit.memory.audit().list(&filter, ENTRIES).await?;
    let shown: Vec<&Recorded> =
        entries.iter().filter(|entry| visit.visitor.is_owner() || entry.namespace.is_some()).collect();
    let field = |name: &str| fields.raw(name).unwrap_or_default().to_owned();
    let body = html! {
        div.page-head { h1 { "Audit" } }
        form.filters-bar method="get" action=(visit.at("audit")) {
            label.inline { "Who" input type="text" name="who" value=(field("who")) maxlength="100"; }
            label.inline { "What" input type="text" name="action" value=(field("action")) placeholder="forget" maxlength="100"; }
            label.inline { "Id" input type="text" name="id" value=(field("id")) placeholder="art_…" maxlength="100"; }
            button type="submit" { "Show" }
        }
        @if shown.is_empty() {
            (show::empty("No entries", &html! { p { "What is done with a key is recorded: changes, or reads as well with REMEMBRANCER_AUDIT=all." } }))
        } @else {
            div.table-wrap tabindex="0" role="region" aria-label="Audit" {
                table {
                    thead { tr { th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "What" } th scope="col" { "Namespace" } th scope="col" { "Ids" } th scope="col" { "Outcome" } } }
                    tbody #rows { @for recorded in &shown { (entry(&visit, recorded)) } }
                }
            }
        }
        (show::more(entries.last().filter(|_| entries.len() as i64 == ENTRIES).map(|last| format!("{}?{}", visit.at("audit"), fields.query_with(&[("before", &last.number.to_string())]))), "rows"))
    };
    visit.page("Audit", &body)
}
