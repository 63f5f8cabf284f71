//! Entries that are led by a day or by the letter of a stand-up.

use memory_core::event::Category;

use super::super::lines;
use super::super::sections::{self, Section};
use super::stand_ups::{is_of_yesterday, section_of_key};
use super::{Form, Reader};

impl Reader<'_> {
    /// "19 Nov 05:30  Lindiwe finds the house cold": an entry of a timeline or a log book.
    pub(super) fn entry(&mut self, at: usize) -> bool {
        let Some(text_at) = lines::dated_entry(self.text_of(at)) else { return false };
        let start = self.lines[at].start + text_at;
        self.push(start..self.lines[at].end, Form::Item { indent: 0, checked: None }, self.section(), false);
        self.open = true;
        true
    }

    /// "y: merged the patch", "blockers: none": the parts of a stand-up.
    pub(super) fn stand_up(&mut self, at: usize) -> bool {
        let line = self.text_of(at);
        if self.keyed(at) {
            return true;
        }
        let Some((name, _)) = line.split_once(':') else { return false };
        let key = name.trim().to_lowercase();
        let Some(section) = section_of_key(&key) else { return false };
        let after = name.len() + 1;
        let rest = &line[after..];
        if rest.trim().is_empty() {
            return false;
        }
        let start = self.lines[at].start + after + rest.len() - rest.trim_start().len();
        if is_of_yesterday(&key) {
            self.date_from_to(at, "yesterday");
        }
        self.push(start..self.lines[at].end, Form::Prose, section, true);
        self.open = true;
        true
    }

    /// "  fixed     the wrong tenant", "decision: no third shift": a word that says what the line is.
    fn keyed(&mut self, at: usize) -> bool {
        let line = self.text_of(at);
        let trimmed = line.trim_start();
        let Some(end) = trimmed.find(|c: char| !c.is_lowercase() && c != '-') else { return false };
        let (key, rest) = trimmed.split_at(end);
        let marked = rest.starts_with("  ") || rest.starts_with('\t') || rest.starts_with(": ");
        let section = match key {
            "known" => Some(Section::Prior(Category::QualityRisk)),
            "people" | "team" | "staff" | "who" => Some(Section::Prior(Category::Stakeholder)),
            "joint" | "together" | "with" => Some(Section::Prior(Category::Collaboration)),
            "idea" | "maybe" | "question" | "someday" => Some(Section::Skip),
            _ => sections::of_heading(key).filter(|section| *section != Section::People),
        };
        if matches!(key, "author" | "closed" | "status" | "date" | "title" | "version" | "tags" | "id")
            && rest.starts_with(':')
        {
            if key == "author" {
                let name = rest.trim_start_matches([':', ' ']).split("  ").next().unwrap_or_default();
                self.layout.from.get_or_insert_with(|| name.trim().to_owned());
            }
            return true;
        }
        let (Some(section), true) = (section, marked && key.len() > 2) else { return false };
        let words = rest.trim_start_matches([':', ' ', '\t']);
        if words.trim().is_empty() {
            return false;
        }
        let start = self.lines[at].end - words.len();
        self.push(start..self.lines[at].end, Form::Item { indent: 0, checked: None }, section, true);
        self.open = true;
        true
    }
}
