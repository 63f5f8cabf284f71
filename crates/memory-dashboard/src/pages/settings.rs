//! The settings of the process, to be read only; secrets are not among them.

use maud::html;

use crate::visit::{Answer, Visit};

pub(crate) async fn page(visit: Visit) -> Answer {
    visit.needs_admin()?;
    let options = &visit.dashboard.options;
    let (extractor, version) = visit.memory.extractor_identity();
    let body = html! {
        div.page-head { h1 { "Settings" } }
        p.muted { "As the process has them. They are set by flags and variables; " code { "remembrancer --help" } " names them all." }
        div.table-wrap tabindex="0" role="region" aria-label="Settings" {
            table.settings {
                thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } } }
                tbody {
                    tr { th scope="row" { "Version" } td { code { (options.version) } } }
                    tr { th scope="row" { "Extractor" } td { code { (extractor) " " (version) } } }
                    @for (name, value) in &options.settings {
                        tr { th scope="row" { code { (name) } } td { @if value.is_empty() { span.muted { "not set" } } @else { code { (value) } } } }
                    }
                }
            }
        }
    };
    visit.page("Settings", &body)
}
