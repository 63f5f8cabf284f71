//! How statements show an event: written once, so that a hit, an event by its id and a related event agree.

/// The statement with the pairs of `json_build_object` in the place of `/*event*/` and `/*participants*/`; its event has the
/// alias `e`, and `$1` is the namespace.
pub(crate) fn with_event_view(template: &str) -> String {
    template
        .replace("/*event*/", include_str!("sql/event_view.sql"))
        .replace("/*participants*/", include_str!("sql/event_participants.sql"))
}
