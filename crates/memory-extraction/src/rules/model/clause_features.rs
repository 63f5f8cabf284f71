//! What a clause shows of itself: its words with names and numbers as classes, its form, its place, its neighbours, and
//! what the hand-written rules make of it.

use std::ops::Range;

use memory_core::entity::EntityType;
use memory_core::event::Category;
use memory_language::hash::Fnv1a;

use super::super::clause::{Clause, Subject};
use super::super::layout::Form;
use super::super::parsed_segment::ParsedSegment;
use super::super::sections::Section;
use super::super::verbs;
use super::clauses::Candidate;
use super::lexicon::{classes, stem};
use super::page::Page;
use super::token_features::token_feature;

/// Takes features by name; the same name twice counts once.
#[derive(Debug, Default)]
pub(in super::super) struct Sink {
    hashes: Vec<u64>,
    names: Option<Vec<String>>,
}

impl Sink {
    /// Keeps the names too.
    pub(in super::super) fn named() -> Self {
        Self { names: Some(Vec::new()), ..Self::default() }
    }

    pub(in super::super) fn clear(&mut self) {
        self.hashes.clear();
    }

    pub(in super::super) fn put(&mut self, parts: &[&str]) {
        if let Some(names) = &mut self.names {
            names.push(parts.concat());
        }
        self.hashes.push(hash(parts));
    }

    pub(in super::super) fn hashes(&mut self) -> &[u64] {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        &self.hashes
    }

    pub(in super::super) fn into_names(self) -> Vec<String> {
        let mut names = self.names.unwrap_or_default();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Of a name in parts.
pub(in super::super) fn hash(parts: &[&str]) -> u64 {
    parts.iter().fold(Fnv1a::default(), |hash, part| hash.bytes(part.as_bytes())).value()
}

/// What the rules make of the clause: a category and how sure they are.
pub(in super::super) type Verdict = (Category, f32);

pub(super) struct Seen<'s, 'a> {
    pub(super) parsed: &'s ParsedSegment<'a>,
    pub(super) page: &'s Page,
    pub(super) candidates: &'s [Candidate],
}

impl Seen<'_, '_> {
    /// The features of the candidate `at`.
    pub(super) fn features(&self, at: usize, verdicts: &[Verdict], sink: &mut Sink) {
        let candidate = &self.candidates[at];
        let clause = candidate.clause(self.parsed);
        sink.put(&["bias"]);
        self.words(&candidate.tokens, sink);
        self.grammar(&clause, candidate, sink);
        self.place(at, sink);
        self.neighbours(at, sink);
        rules(verdicts, sink);
    }

    /// A token as the model sees it; empty for what says nothing.
    fn word(&self, at: usize) -> &str {
        token_feature(self.parsed, at)
    }

    fn words(&self, tokens: &Range<usize>, sink: &mut Sink) {
        let parsed = self.parsed;
        let mut last = "^";
        let mut before_last = "^";
        let mut last_class: Option<&str> = None;
        let opens = opening(parsed, tokens.start);
        let mut number = 0;
        for at in tokens.clone() {
            if parsed.mention(at).is_some_and(|mention| mention.tokens.start != at) {
                continue;
            }
            let word = self.word(at);
            if word.is_empty() {
                continue;
            }
            sink.put(&["w:", word]);
            sink.put(&["b:", last, "_", word]);
            if !word.starts_with('<') && word.len() > 3 {
                sink.put(&["s:", stem(word)]);
            }
            if number < 3 {
                sink.put(&[["p0:", "p1:", "p2:"][number], word]);
            }
            if number == 2 {
                sink.put(&["t:", before_last, "_", last, "_", word]);
            }
            let classes = classes(word);
            for class in classes {
                sink.put(&["c:", class]);
                sink.put(&["oc:", opens, "_", class]);
                if number < 2 {
                    sink.put(&["c0:", class]);
                }
                if let Some(other) = last_class.filter(|other| other != class) {
                    sink.put(&["cc:", other, "_", class]);
                }
            }
            if let Some(class) = classes.first() {
                last_class = Some(class);
            }
            before_last = last;
            last = word;
            number += 1;
        }
        sink.put(&["l:", last]);
        sink.put(&["b:", last, "_$"]);
        sink.put(&["n:", bucket(number, &[1, 2, 3, 5, 8, 12, 18, 26])]);
    }

    fn grammar(&self, clause: &Clause<'_, '_>, candidate: &Candidate, sink: &mut Sink) {
        let text = &self.parsed.text;
        if clause.is_question() {
            sink.put(&["g:question"]);
        }
        if clause.is_quoted(clause.tokens.start) || self.parsed.is_quote_mark(clause.tokens.start) {
            sink.put(&["g:quoted"]);
        }
        if clause.is_supposed(clause.tokens.end) {
            sink.put(&["g:supposed"]);
        }
        let last = clause.tokens.end - 1;
        sink.put(&["end:", if text.is_word(last) { "word" } else { text.word(last) }]);
        if candidate.part > 0 {
            let before = (clause.tokens.start.saturating_sub(2)..clause.tokens.start)
                .find(|at| classes_joint(text.word(*at)))
                .map_or("other", |at| text.word(at));
            sink.put(&["join:", before]);
        }
        let tense = self.verbs(clause, sink);
        let first = clause.tokens.start;
        sink.put(&["subject:", opening(self.parsed, first), ":", tense]);
        // Who speaks of what they do themselves needs no name.
        let is_own = clause.tokens.clone().any(|at| matches!(clause.word(at), "i" | "we"));
        let people = self.parsed.people_in(&clause.tokens).len();
        sink.put(&["people:", if is_own { "own" } else { ["0", "1", "2", "3"][people.min(3)] }]);
        if self
            .parsed
            .mentions_in(&clause.tokens)
            .iter()
            .any(|mention| mention.entity_type == EntityType::Org)
        {
            sink.put(&["org"]);
        }
    }

    /// Each verb with who does it and how it is said; gives the form of the first.
    fn verbs(&self, clause: &Clause<'_, '_>, sink: &mut Sink) -> &'static str {
        let mut told = None;
        let mut tense = "none";
        for at in clause.tokens.clone() {
            let word = clause.word(at);
            if self.parsed.mention(at).is_some() {
                continue;
            }
            let verb = verbs::of(word);
            if let Some(verb) = verb {
                let form = match () {
                    () if verb.ing => "ing",
                    () if verb.past => "past",
                    () if verb.participle => "part",
                    () if verb.third => "third",
                    () => "base",
                };
                let class = ["deed", "idle", "harm", "shift"][verb.class as usize];
                sink.put(&["v:", class, ":", form]);
                let lead = clause.lead(at);
                let who = who(&lead.subject);
                let mood = match () {
                    () if lead.modal => "modal",
                    () if lead.future => "future",
                    () if lead.was => "was",
                    () if lead.be => "be",
                    () => "plain",
                };
                let negated = if lead.negated { "!" } else { "" };
                sink.put(&["vs:", who, ":", class, ":", form, ":", mood, negated]);
                sink.put(&["vm:", form, ":", mood, negated]);
                sink.put(&["who:", who, ":", mood, negated]);
                if told.is_none() {
                    told = Some(at);
                    tense = form;
                    sink.put(&["v1:", who, ":", stem(word)]);
                }
            } else if told.is_none() && verbs::is_finite(word) {
                let lead = clause.lead(at);
                sink.put(&["aux:", who(&lead.subject), ":", word]);
            }
        }
        tense
    }

    fn place(&self, at: usize, sink: &mut Sink) {
        let candidate = &self.candidates[at];
        let block = candidate.block(self.parsed);
        let form = match &block.form {
            Form::Prose if self.parsed.is_said_by_machine(block) => "machine",
            Form::Prose if block.speaker.is_some() => "turn",
            Form::Prose if block.labelled => "label",
            Form::Prose => "prose",
            Form::Item { checked: Some(true), .. } => "ticked",
            Form::Item { checked: Some(false), .. } => "unticked",
            Form::Item { indent: 0, .. } => "item",
            Form::Item { .. } => "deep",
            Form::Row { .. } => "row",
        };
        let section = match block.section {
            Section::Open => None,
            Section::Prior(category) => Some(category.as_str()),
            Section::Planned => Some("planned"),
            Section::People => Some("people"),
            Section::Skip => Some("skip"),
        };
        sink.put(&["form:", form]);
        if let Some(section) = section {
            sink.put(&["section:", section]);
            sink.put(&["section:", section, ":", form]);
        }
        let place = &self.page.blocks[candidate.block];
        for word in &place.heading {
            sink.put(&["head:", word]);
            for class in classes(word) {
                sink.put(&["headc:", class]);
            }
        }
        let first = candidate.number == 0;
        for word in &place.prefix {
            sink.put(&[if first { "pre:" } else { "prex:" }, word]);
            for class in classes(word) {
                sink.put(&["prec:", class]);
            }
        }
        if let Form::Row { heads, .. } = &block.form {
            for head in heads {
                sink.put(&["col:", head]);
            }
        }
        sink.put(&[
            "first:",
            if first { "1" } else { "0" },
            if candidate.part == 0 { "1" } else { "0" },
            ":",
            form,
        ]);
        for trait_ in &self.page.traits {
            sink.put(&["page:", trait_]);
        }
    }

    fn neighbours(&self, at: usize, sink: &mut Sink) {
        for (name, other) in [("prev", at.checked_sub(1)), ("next", Some(at + 1))] {
            let Some(other) = other.and_then(|other| self.candidates.get(other)) else { continue };
            let here = &self.candidates[at];
            let same = other.block == here.block
                || other.block(self.parsed).speaker == here.block(self.parsed).speaker;
            let by = match (same, other.sentence == here.sentence) {
                (_, true) => ":in:",
                (true, _) => ":own:",
                _ => ":else:",
            };
            let opening = self.word(other.tokens.start);
            if !opening.is_empty() {
                sink.put(&[name, by, opening]);
            }
            let clause = other.clause(self.parsed);
            if clause.is_question() {
                sink.put(&[name, by, "?"]);
            }
            for token in other.tokens.clone().take(12) {
                for class in classes(self.parsed.text.word(token)) {
                    if matches!(*class, "propose" | "accept" | "ask" | "decide" | "joke" | "hedge") {
                        sink.put(&[name, by, "c:", class]);
                    }
                }
            }
        }
    }
}

fn rules(verdicts: &[Verdict], sink: &mut Sink) {
    for (category, sure) in verdicts {
        sink.put(&["rule:", category.as_str()]);
        sink.put(&["rule:", category.as_str(), ":", level(*sure)]);
    }
    if verdicts.is_empty() {
        sink.put(&["rule:none"]);
    }
}

fn classes_joint(word: &str) -> bool {
    matches!(word, "but" | "and" | "so" | "while" | "whereas" | "however" | "," | ";" | "–" | "—")
}

fn who(subject: &Subject) -> &'static str {
    match subject {
        Subject::Nobody => "nobody",
        Subject::People(people) if people.len() > 1 => "people",
        Subject::People(_) => "person",
        Subject::Me => "me",
        Subject::We => "we",
        Subject::Group(_) => "group",
        Subject::They => "they",
        Subject::Public => "public",
        Subject::Thing => "thing",
    }
}

/// What kind of word opens a clause.
fn opening(parsed: &ParsedSegment<'_>, at: usize) -> &'static str {
    if parsed.person(at).is_some() {
        return "person";
    }
    if parsed.mention(at).is_some() {
        return "name";
    }
    let word = parsed.text.word(at);
    match word {
        "i" => "i",
        "we" => "we",
        "you" => "you",
        "he" | "she" | "they" => "they",
        "it" | "this" | "that" | "there" => "it",
        "the" | "a" | "an" | "our" | "my" | "your" | "their" => "the",
        _ => match verbs::of(word) {
            Some(verb) if verb.ing => "ing",
            Some(verb) if verb.past || verb.participle => "past",
            Some(verb) if verb.base => "base",
            _ => "other",
        },
    }
}

fn level(sure: f32) -> &'static str {
    match sure {
        _ if sure < 0.5 => "0",
        _ if sure < 0.6 => "5",
        _ if sure < 0.7 => "6",
        _ if sure < 0.8 => "7",
        _ => "8",
    }
}

fn bucket(count: usize, steps: &[usize]) -> &'static str {
    const NAMES: [&str; 9] = ["0", "1", "2", "3", "4", "5", "6", "7", "8"];
    NAMES[steps.iter().filter(|step| count >= **step).count().min(8)]
}
