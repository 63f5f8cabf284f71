//! The mistakes in a document, in words, for authors of rules.

use std::fmt::Write;

use memory_core::category::Category;
use memory_core::event::ExtractedEvent;
use memory_language::text::cut;
use serde::Serialize;

use super::counts::Counts;
use super::gold::{LabelledEvent, day_of};
use super::judge::Judged;

/// The most that is printed of a quote or a narrative.
const LINE_MAX_CHARS: usize = 300;

/// The mistakes of one document. It is none to miss a label that does not count.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Mistakes {
    pub document: String,
    /// Of events.
    pub strict: Counts,
    /// Found where nothing is labelled.
    pub wrong: Vec<Finding>,
    /// Found as something else.
    pub confused: Vec<Confused>,
    pub missed: Vec<Missed>,
    /// Found as what it is, with another day or owner.
    pub details: Vec<Detail>,
    /// Names that were found and are not labelled, with their type; the other way round; and those of another type.
    pub names_wrong: Vec<String>,
    pub names_missed: Vec<String>,
    pub names_confused: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub category: &'static str,
    pub confidence: f32,
    pub quote: String,
    pub narrative: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confused {
    #[serde(flatten)]
    pub finding: Finding,
    pub labelled: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missed {
    pub category: String,
    pub quote: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Detail {
    pub what: &'static str,
    pub found: String,
    pub labelled: String,
    pub quote: String,
}

impl Finding {
    fn of(event: &ExtractedEvent) -> Self {
        let quotes: Vec<&str> = event.evidence.iter().map(|evidence| evidence.quote.as_str()).collect();
        Self {
            category: event.category.as_str(),
            confidence: event.confidence,
            quote: quotes.join(" … "),
            narrative: event.narrative.clone(),
        }
    }
}

impl Mistakes {
    pub fn of(judged: &Judged<'_>) -> Self {
        let mut mistakes =
            Self { document: judged.document.name.clone(), strict: judged.strict(), ..Self::default() };
        for (n, event) in judged.found.events.iter().enumerate() {
            let Some(label) = judged.lenient.label(n).map(|label| &judged.document.events[label]) else {
                mistakes.wrong.push(Finding::of(event));
                continue;
            };
            if label.categories.contains(&event.category) {
                if !label.is_optional {
                    mistakes.details.extend(details(judged, label, event));
                }
            } else {
                mistakes.confused.push(Confused { finding: Finding::of(event), labelled: categories(label) });
            }
        }
        for (n, label) in judged.document.events.iter().enumerate() {
            if judged.lenient.found(n).is_none() && !label.is_optional {
                mistakes
                    .missed
                    .push(Missed { category: categories(label), quote: label.quotes.join(" … ") });
            }
        }
        mistakes.name(judged);
        mistakes
    }

    fn name(&mut self, judged: &Judged<'_>) {
        for (n, entity) in judged.found.entities.iter().enumerate() {
            let found = entity.entity_type;
            match judged.entities.label(n).map(|label| judged.document.entities[label].entity_type) {
                None => self.names_wrong.push(format!("{} ({found})", entity.name)),
                Some(labelled) if labelled != found => {
                    self.names_confused.push(format!("{} ({found}, not {labelled})", entity.name));
                }
                Some(_) => {}
            }
        }
        for (n, label) in judged.document.entities.iter().enumerate() {
            if judged.entities.found(n).is_none() {
                self.names_missed.push(format!("{} ({})", label.name, label.entity_type));
            }
        }
    }

    /// For people; nothing where nothing was wrong.
    pub fn text(&self) -> String {
        let mut lines = String::new();
        for Finding { category, confidence, quote, narrative } in &self.wrong {
            let _ = writeln!(lines, "  wrong   {category} {confidence:.2} \"{}\"", one_line(quote));
            let _ = writeln!(lines, "          {}", one_line(narrative));
        }
        for Confused { finding: Finding { category, confidence, quote, narrative }, labelled } in
            &self.confused
        {
            let _ = writeln!(
                lines,
                "  taken   {labelled} for {category} {confidence:.2} \"{}\"\n          {}",
                one_line(quote),
                one_line(narrative)
            );
        }
        for Missed { category, quote } in &self.missed {
            let _ = writeln!(lines, "  missed  {category} \"{}\"", one_line(quote));
        }
        for Detail { what, found, labelled, quote } in &self.details {
            let _ = writeln!(lines, "  {what:<7} {found}, not {labelled} \"{}\"", one_line(quote));
        }
        for (what, names) in
            [("wrong", &self.names_wrong), ("missed", &self.names_missed), ("taken", &self.names_confused)]
        {
            if !names.is_empty() {
                let _ = writeln!(lines, "  names {what}: {}", names.join(", "));
            }
        }
        if lines.is_empty() {
            return lines;
        }
        let Counts { right, wrong, missed, .. } = self.strict;
        format!("{}: {right} right, {wrong} wrong, {missed} missed\n{lines}", self.document)
    }
}

/// Days and owners that are others than those labelled.
fn details(judged: &Judged<'_>, label: &LabelledEvent, event: &ExtractedEvent) -> Vec<Detail> {
    let quote = Finding::of(event).quote;
    let day = |day: Option<jiff::civil::Date>| day.map_or("none".to_owned(), |day| day.to_string());
    let mut details = Vec::new();
    let mut detail = |what: &'static str, found: String, labelled: String| {
        details.push(Detail { what, found, labelled, quote: quote.clone() });
    };
    let due = event.due_time.map(day_of);
    if due != label.due {
        detail("due", day(due), day(label.due));
    }
    let when = event.event_time.map(day_of);
    if label.when.is_some() && when != label.when {
        detail("when", day(when), day(label.when));
    }
    if judged.owners_are_right(label, event) == Some(false) {
        let (found, labelled) = judged.owner_names(label, event);
        let is_promise = label.categories.contains(&Category::Commitment);
        detail(if is_promise { "owner" } else { "actor" }, found, labelled);
    }
    details
}

fn categories(label: &LabelledEvent) -> String {
    label.categories.iter().map(|category| category.as_str()).collect::<Vec<_>>().join(" or ")
}

fn one_line(text: &str) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), LINE_MAX_CHARS)
}
