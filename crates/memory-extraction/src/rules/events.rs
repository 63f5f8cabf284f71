//! Events of one segment: sections promise what their items are, sentences say it by their cues.

use std::cell::OnceCell;
use std::ops::Range;

use memory_core::event::{Actor, ActorRole, Category};

use super::apart::are_apart;
use super::clause::{Clause, Subject};
use super::deadlines;
use super::draft::{self, Draft};
use super::event_context::{EventContext, WHOLE_SENTENCE_MAX_BYTES, is_listed, trimmed};
use super::features::{self, Hit};
use super::layout::{Block, Form};
use super::narrative;
use super::sections::Section;
use super::sentences::{clauses, sentences};
use super::{items, requests, verbs};

/// Below this nothing is an event.
pub(super) const CONFIDENCE_MIN: f32 = 0.5;

/// How sure an event of prose must be. Below these the labelled documents have more that is wrong than right.
fn wanted(category: Category) -> f32 {
    match category {
        Category::Execution | Category::Feedback | Category::QualityRisk => 0.58,
        _ => CONFIDENCE_MIN,
    }
}

/// Reads one segment.
pub(super) struct EventReader<'s, 'a> {
    context: EventContext<'s, 'a>,
    drafts: Vec<Draft>,
}

impl<'s, 'a> EventReader<'s, 'a> {
    pub(super) fn new(context: EventContext<'s, 'a>) -> Self {
        Self { context, drafts: Vec::new() }
    }

    pub(super) fn read(mut self) -> Vec<Draft> {
        let mut list = items::List::default();
        for block in &self.context.parsed.layout.blocks {
            match block.section {
                Section::Skip | Section::People => {}
                Section::Prior(_) | Section::Planned => self.read_promised(block, &mut list),
                Section::Open => {
                    let boxed = matches!(block.form, Form::Item { checked: Some(_), .. });
                    if boxed || matches!(block.form, Form::Row { .. }) {
                        self.read_promised(block, &mut list);
                    } else {
                        list.close();
                        self.read_prose(block, &block.bytes, 0.0);
                    }
                }
            }
        }
        self.drafts
    }

    fn read_promised(&mut self, block: &Block, list: &mut items::List) {
        let sentences = sentences(&self.context.parsed.text, &block.bytes);
        let done = block.section == Section::Prior(Category::Execution);
        if matches!(block.form, Form::Prose) && (sentences.len() > 1 || done) {
            let parsed = self.context.parsed;
            // "merged the patch, paired with Obi": each is done by itself.
            let parts = sentences
                .into_iter()
                .flat_map(|sentence| if done { clauses(parsed, &sentence) } else { vec![sentence] });
            for sentence in parts {
                let bytes = self.context.parsed.text.bytes(&sentence);
                self.read_promise(&Block { bytes, ..block.clone() }, list);
            }
        } else {
            self.read_promise(block, list);
        }
    }

    fn read_promise(&mut self, block: &Block, list: &mut items::List) {
        match items::promised(&self.context, block, list) {
            items::Promised::Nothing => {}
            items::Promised::Event(draft, rest) => {
                self.drafts.push(*draft);
                self.read_prose(block, &rest, 0.14);
            }
            items::Promised::Ordinary => self.read_prose(block, &block.bytes, 0.0),
        }
    }

    /// Reads sentences by their cues; hits less sure than the minimum plus `strictness` are dropped.
    fn read_prose(&mut self, block: &Block, bytes: &Range<usize>, strictness: f32) {
        let speaker = self.context.speaker_of(block);
        let text = &self.context.parsed.text;
        for sentence in sentences(text, bytes) {
            let mut told: Vec<(Range<usize>, Hit)> = Vec::new();
            let parsed = self.context.parsed;
            let parts = clauses(parsed, &sentence);
            let is_apart = are_apart(parsed, &parts);
            for (part, tokens) in parts.into_iter().enumerate() {
                let first = text.word(tokens.start);
                let done = verbs::of(first).is_some_and(|verb| verb.past) || first == "will";
                let opens = part == 0 || done;
                let clause = Clause {
                    parsed,
                    tokens,
                    sentence: sentence.clone(),
                    opens,
                    item: is_listed(block),
                    spoken: block.speaker.is_some(),
                    manner: OnceCell::new(),
                };
                if let Some(draft) = requests::request(&self.context, &clause, speaker) {
                    self.drafts.push(draft);
                } else if let Some(hit) =
                    features::best(&clause).filter(|hit| hit.confidence >= CONFIDENCE_MIN + strictness)
                {
                    told.push((clause.tokens, hit));
                }
            }
            let whole = text.bytes(&sentence);
            let alone = told.len() == 1 && !is_apart && whole.len() <= WHOLE_SENTENCE_MAX_BYTES;
            for (tokens, hit) in told {
                let tokens = if alone { sentence.clone() } else { tokens };
                self.push_hit(&hit, &tokens, speaker, block);
            }
        }
    }

    fn push_hit(&mut self, hit: &Hit, tokens: &Range<usize>, speaker: Option<usize>, block: &Block) {
        if self.context.parsed.is_said_by_machine(block) && !matches!(hit.lead.subject, Subject::People(_)) {
            return;
        }
        let text = &self.context.parsed.text;
        let tokens = trimmed(self.context.parsed, tokens);
        let bytes = text.bytes(&tokens);
        let mut actors = draft::actors(self.context.parsed, hit, &tokens, speaker);
        // A status line without a subject is its author's.
        let deed = matches!(hit.category, Category::Execution | Category::Commitment | Category::Decision);
        let unsaid = match hit.lead.subject {
            Subject::Nobody => deed,
            // "New cert is installed", said by the one who did it; "we decided".
            Subject::Thing => hit.category == Category::Execution && block.speaker.is_some(),
            Subject::We => matches!(hit.category, Category::Execution | Category::Decision),
            _ => false,
        };
        if unsaid && !actors.iter().any(|actor| actor.role == ActorRole::Owner) {
            actors.extend(speaker.map(|entity| Actor { entity, role: ActorRole::Owner }));
        }
        let words = &text.raw[bytes.clone()];
        let dates = self.context.parsed.dates_at(bytes.start);
        let due_time = (hit.category == Category::Commitment).then(|| deadlines::due(words, dates)).flatten();
        // "I'm moving to Denver in June": without the date it is only going on.
        let ongoing =
            hit.lead.be && matches!(hit.lead.subject, Subject::Me) && text.word(hit.at).ends_with("ing");
        if ongoing
            && due_time.is_none()
            && hit.category == Category::Commitment
            && text.word(hit.at) != "going"
        {
            return;
        }
        let unnamed = matches!(hit.lead.subject, Subject::Me) && speaker.is_none();
        let dated = if due_time.is_some() { 0.08 } else { 0.0 };
        let confidence = hit.confidence + dated - if unnamed { 0.1 } else { 0.0 } - self.doubt(hit, block);
        if confidence < wanted(hit.category) {
            return;
        }
        let event_time = draft::time_of(hit.category, words, dates);
        let narrative = narrative::sentence(&self.context.told_whole(&tokens, speaker, hit));
        let subject = draft::about(self.context.parsed, &tokens, &actors);
        self.drafts.push(Draft {
            category: hit.category,
            confidence: confidence.min(0.95),
            narrative,
            event_time,
            due_time,
            subject,
            actors,
            evidence: vec![(self.context.parsed.segment, bytes)],
        });
    }

    /// An unnamed "we" outside of a conversation is mostly the voice of a manual.
    fn doubt(&self, hit: &Hit, block: &Block) -> f32 {
        let vague = matches!(hit.lead.subject, Subject::We | Subject::Group(None))
            && hit.category == Category::Commitment;
        let placed = block.speaker.is_some()
            || self.context.parsed.speaker.is_some()
            || !self.context.parsed.layout.people.is_empty();
        if vague && !placed { 0.08 } else { 0.0 }
    }
}
