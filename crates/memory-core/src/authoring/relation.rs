//! Rules for the relations of an entity: their targets exist, their types are short.

use std::collections::HashSet;

use super::request::Request;
use super::{EntityDraft, Messages, RelationDraft, label_error, ratio_error, shown, suggested};

/// How many names a message suggests.
const SUGGESTIONS: usize = 3;

/// Checks the relations of the entity at `index`, which are at most as many as are allowed.
pub(super) fn check(request: &Request<'_>, index: usize, errors: &mut Messages, warnings: &mut Messages) {
    let draft = &request.drafts[index];
    let name = draft.name.trim();
    let mut seen = HashSet::new();
    for (at, relation) in draft.relations.iter().take(request.limits.relations).enumerate() {
        if relation.is_unread {
            continue;
        }
        let target = relation.target.trim();
        let kind = relation.relation_type.trim();
        let label = label(at, relation);
        let problems = [
            target_error(request, name, target),
            type_error(request, kind),
            ratio_error("importance", relation.importance),
        ];
        errors.extend(problems.into_iter().flatten().map(|problem| format!("{label}: {problem}")));
        if !target.is_empty() && target == name {
            let other = "so it connects it to nothing else. Add a relation to another entity.";
            warnings.push(format!("{label}: Its target is the entity itself, {other}"));
        }
        if !seen.insert((target, kind)) && !target.is_empty() {
            warnings.push(format!("{label}: Sent twice; it is stored once."));
        }
    }
}

/// What is wrong with the number of relations of an entity, those of its other drafts included.
pub(super) fn number_error(request: &Request<'_>, index: usize, count: usize) -> Option<String> {
    let title = request.title(index);
    let most = request.limits.relations;
    if count > most {
        return Some(format!(
            "{title} has {count} relations, at most {most}. Send the rest in a later call."
        ));
    }
    let needed = count == 0 && !request.is_root(index) && !request.is_known(index);
    needed.then(|| {
        format!(
            "{title} must have at least 1 relation. {} Set isRoot: true only if it is meant to stand alone.",
            example(request, index)
        )
    })
}

/// A relation that the entity could have.
fn example(request: &Request<'_>, index: usize) -> String {
    let name = request.drafts[index].name.trim();
    let relates_here = |draft: &&EntityDraft| draft.relations.iter().any(|r| r.target.trim() == name);
    let named = || request.drafts.iter().filter(|d| !d.name.trim().is_empty() && d.name.trim() != name);
    let other = named().find(relates_here).or_else(|| named().next()).map(|draft| draft.name.trim());
    match other.or_else(|| request.thread_names().find(|known| *known != name)) {
        Some(other) => format!(
            "Add one that shows how it is connected, for example {{ targetEntity: '{}', relationType: \
             'belongs to' }}.",
            suggested(other)
        ),
        None => "Add the entity that it belongs to and a relation to that, for example { targetEntity: \
                 'Portfolio', relationType: 'updates' }."
            .to_owned(),
    }
}

/// `Relation 1 (uses 'PostgreSQL')`.
fn label(at: usize, relation: &RelationDraft) -> String {
    let (kind, target) = (shown(&relation.relation_type), shown(&relation.target));
    match (kind.is_empty(), target.is_empty()) {
        (true, true) => format!("Relation {at}"),
        (true, false) => format!("Relation {at} (to '{target}')"),
        (false, true) => format!("Relation {at} ('{kind}')"),
        (false, false) => format!("Relation {at} ('{kind}' to '{target}')"),
    }
}

fn target_error<'a>(request: &Request<'a>, name: &str, target: &'a str) -> Option<String> {
    if target.is_empty() {
        let others = request.examples(name, SUGGESTIONS);
        return Some(format!(
            "Has no targetEntity. Name an entity of this request or of the thread{others}."
        ));
    }
    if target.contains('\0') {
        return label_error("Target", target, usize::MAX, "");
    }
    if request.has_name(target) {
        return None;
    }
    let shown_target = shown(target);
    let close = request.close_to(target, name, SUGGESTIONS);
    let instead = if close.is_empty() {
        let others = request.examples(name, SUGGESTIONS);
        format!("Add '{shown_target}' to entities, or relate to one that exists{others}.")
    } else {
        let close: Vec<String> = close.iter().map(|name| format!("'{}'", suggested(name))).collect();
        format!("Did you mean {}? If not, add '{shown_target}' to entities.", close.join(" or "))
    };
    Some(format!("Target '{shown_target}' not found in this request or in the thread. {instead}"))
}

fn type_error(request: &Request<'_>, kind: &str) -> Option<String> {
    if kind.is_empty() {
        return Some("Has no relationType. Say how the two are connected, for example 'uses'.".to_owned());
    }
    let instead = "Use a verb or two, for example 'depends on', and put details into an observation.";
    label_error("Type", kind, request.limits.relation_type_chars, instead)
}
