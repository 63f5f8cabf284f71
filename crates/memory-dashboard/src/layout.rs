//! The frame of the pages: head, navigation, what was done last.

use maud::{DOCTYPE, Markup, html};

use crate::assets::address;
use crate::failure::Failure;
use crate::sessions::Notice;
use crate::visit::{Theme, Visit};

/// How the library asks and shows: nothing is evaluated, no style is written into the page, and pages of errors are shown too.
const HTMX: &str = r#"{"includeIndicatorStyles":false,"allowEval":false,"selfRequestsOnly":true,"historyCacheSize":0,
"responseHandling":[{"code":"204","swap":false},{"code":"[2345]..","swap":true}]}"#;

struct Entry {
    page: &'static str,
    name: &'static str,
    icon: &'static str,
    needs: Needs,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Admin,
    Owner,
}

const fn entry(page: &'static str, name: &'static str, icon: &'static str, needs: Needs) -> Entry {
    Entry { page, name, icon, needs }
}

/// The groups of the navigation. Icons are paths on a field of 24.
const NAVIGATION: [(&str, &[Entry]); 3] = [
    (
        "Memory",
        &[
            entry(
                "overview",
                "Overview",
                "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z",
                Needs::Nothing,
            ),
            entry("search", "Search", "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4", Needs::Nothing),
            entry("browse", "Browse", "M4 6h16M4 12h16M4 18h10", Needs::Nothing),
            entry("timeline", "Timeline", "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2", Needs::Nothing),
        ],
    ),
    (
        "Knowledge",
        &[
            entry("commitments", "Commitments", "M5 12l4 4L19 6", Needs::Nothing),
            entry(
                "decisions",
                "Decisions",
                "M12 3v18M12 7h7l-2-2M12 7l5 2M12 13H5l2-2M12 13l-5 2",
                Needs::Nothing,
            ),
            entry(
                "entities",
                "Entities",
                "M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3 20c0-3 3-5 6-5s6 2 6 5M16 5a3 3 0 0 1 0 6M21 20c0-2-1-4-4-5",
                Needs::Nothing,
            ),
            entry(
                "graph",
                "Graph",
                "M6 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM18 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM10 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 6l8 2M7 8l3 8M17 10l-6 7",
                Needs::Nothing,
            ),
        ],
    ),
    (
        "Operations",
        &[
            entry("jobs", "Jobs", "M4 7h16v12H4zM9 7V4h6v3M4 12h16", Needs::Nothing),
            entry("namespaces", "Namespaces", "M4 7h6l2 2h8v10H4z", Needs::Nothing),
            entry("audit", "Audit", "M7 3h8l4 4v14H7zM10 12h6M10 16h6", Needs::Admin),
            entry("keys", "Keys", "M14 10a4 4 0 1 0-3 4l2 2h2v2h2v2h3v-3l-6-6z", Needs::Owner),
            entry("settings", "Settings", "M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4", Needs::Admin),
        ],
    ),
];

pub(crate) fn icon(path: &str) -> Markup {
    html! {
        svg.icon viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.7"
            stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" { path d=(path); }
    }
}

fn head(theme: Theme, title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="htmx-config" content=(HTMX);
            title { (title) " · Remembrancer" }
            link rel="icon" href=(address("icon.svg")) type="image/svg+xml";
            link rel="stylesheet" href=(address("uplot.css"));
            link rel="stylesheet" href=(address("dashboard.css"));
            script src=(address("htmx.js")) defer {}
            script type="module" src=(address("dashboard.js")) data-theme=(theme.as_str()) {}
        }
    }
}

/// A page without navigation: before anybody is let in.
pub(crate) fn bare(theme: Theme, title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" data-theme=(theme.as_str()) {
            (head(theme, title))
            body.bare {
                main #main tabindex="-1" {
                    div.brand { img src=(address("icon.svg")) alt="" width="28" height="28"; "Remembrancer" }
                    (body)
                }
            }
        }
    }
}

/// What was not to be had, and what to do.
pub(crate) fn failed(failure: &Failure) -> Markup {
    html! {
        div.page-head { h1 { (failure.title()) } }
        div.panel.failure role="alert" {
            p { (failure.reason) }
            p.actions {
                a.button href="/ui" { "To the overview" }
            }
        }
    }
}

fn navigation(visit: &Visit) -> Markup {
    let path = visit.here.split('?').next().unwrap_or_default();
    let is_here =
        |address: &str| path == address || path.strip_prefix(address).is_some_and(|r| r.starts_with('/'));
    let shown = |entry: &&Entry| match entry.needs {
        Needs::Nothing => true,
        Needs::Admin => visit.visitor.is_admin(),
        Needs::Owner => visit.visitor.is_owner(),
    };
    html! {
        @for (group, entries) in &NAVIGATION {
            h2 { (group) }
            ul {
                @for entry in entries.iter().filter(shown) {
                    @let address = visit.at(entry.page);
                    @let current = is_here(&address) || (entry.page == "browse" && is_here(&visit.at("memory")))
                        || (entry.page == "browse" && is_here(&visit.at("import")));
                    li {
                        a href=(address) aria-current=[current.then_some("page")] { (icon(entry.icon)) (entry.name) }
                    }
                }
            }
        }
    }
}

fn account(visit: &Visit) -> Markup {
    let is_anyone = visit.visitor.who == crate::Who::Anyone;
    html! {
        div.account {
            p { strong { (visit.visitor.name()) } " " span.muted { (visit.visitor.role().as_str()) } }
            form.theme method="post" action="/ui/theme" {
                (csrf(visit))
                input type="hidden" name="back" value=(visit.here);
                fieldset {
                    legend.sr { "Theme" }
                    @for theme in [Theme::System, Theme::Light, Theme::Dark] {
                        button type="submit" name="theme" value=(theme.as_str())
                            aria-pressed=(if theme == visit.theme { "true" } else { "false" }) {
                            (match theme { Theme::System => "Auto", Theme::Light => "Light", Theme::Dark => "Dark" })
                        }
                    }
                }
            }
            @if !is_anyone {
                form method="post" action="/ui/logout" { (csrf(visit)) button.quiet type="submit" { "Sign out" } }
            }
        }
    }
}

/// What a form of ours brings.
pub(crate) fn csrf(visit: &Visit) -> Markup {
    html! { input type="hidden" name="csrf" value=(visit.session.csrf); }
}

/// A page in its frame.
pub(crate) fn frame(visit: &Visit, title: &str, notice: Option<&Notice>, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" data-theme=(visit.theme.as_str()) {
            (head(visit.theme, title))
            body data-csrf=(visit.session.csrf) {
                a.skip href="#main" { "Skip to the content" }
                header.side {
                    div.side-top {
                        a.brand href=(visit.at("overview")) {
                            img src=(address("icon.svg")) alt="" width="24" height="24"; "Remembrancer"
                        }
                        button.menu type="button" aria-expanded="false" aria-controls="navigation" { "Menu" }
                    }
                    div.side-body #navigation {
                        a.namespace href=(visit.at("namespaces")) {
                            span.muted { "Namespace" } strong { (visit.namespace.as_str()) }
                        }
                        nav aria-label="Pages" { (navigation(visit)) }
                        (account(visit))
                    }
                }
                main #main tabindex="-1" {
                    @if let Some(notice) = notice {
                        div.notice.(if notice.is_error { "bad" } else { "good" }) role="status" {
                            p { (notice.text) }
                        }
                    }
                    (body)
                }
            }
        }
    }
}
