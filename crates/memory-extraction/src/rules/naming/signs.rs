//! What is seen of a name: its words, what stands beside it wherever it stands, what else the text does with it.

use std::collections::HashSet;
use std::ops::Range;

use memory_core::entity::EntityType;
use memory_core::ports::SourceText;
use memory_language::calendar_words::calendar_word;
use memory_language::hash::stable_hash;

use super::super::layout::Form;
use super::super::model::Sink;
use super::super::parsed_segment::ParsedSegment;
use super::super::verbs::{self, Class};
use super::super::words::{Kind, Text, begins_line, spaced};
use super::super::wordset::HashedSet;
use super::word_kinds::WordKinds;

/// Small words inside of a name.
const JOINTS: [&str; 9] = ["of", "and", "&", "for", "the", "'s", "/", "to", "in"];

/// What is known of the whole source.
pub(super) struct Page {
    /// Words that stand somewhere without a capital.
    small: HashedSet,
    title: String,
    /// Those with a part in it, in lower case, and the parts of their names.
    people: HashSet<String>,
    parts_of_people: HashSet<String>,
}

impl Page {
    pub(super) fn of(source: &SourceText, parsed_segments: &[ParsedSegment<'_>]) -> Self {
        let mut small = HashedSet::default();
        for text in parsed_segments.iter().map(|parsed| &parsed.text) {
            let words = (0..text.tokens.len()).filter(|at| text.is_word(*at));
            let words = words.map(|at| text.raw_word(at));
            let words = words.filter(|word| !word.contains(char::is_uppercase));
            small.extend(words.map(stable_hash));
        }
        let people = source.author.iter().chain(&source.participants).map(|name| name.to_lowercase());
        let people: HashSet<String> = people.collect();
        let parts_of_people = people.iter().flat_map(|person| person.split(' ')).map(str::to_owned).collect();
        let title = source.title.as_deref().unwrap_or_default().to_lowercase();
        Self { small, title, people, parts_of_people }
    }
}

/// The features of one name.
pub(super) struct Signs<'s> {
    sink: &'s mut Sink,
    /// It stands within a sentence.
    is_in_midst: bool,
    /// How often nothing that has a capital stands beside it.
    alone: usize,
    /// How often "the" leads it.
    led: usize,
}

impl<'s> Signs<'s> {
    pub(super) fn new(sink: &'s mut Sink) -> Self {
        sink.clear();
        Self { sink, is_in_midst: false, alone: 0, led: 0 }
    }

    /// The name itself.
    pub(super) fn name(&mut self, text: &Text<'_>, tokens: &Range<usize>) {
        let sink = &mut *self.sink;
        sink.put(&["bias"]);
        let counts = |at: &usize| text.is_word(*at) || text.kind(*at) == Some(Kind::Number);
        let words: Vec<usize> = tokens.clone().filter(counts).collect();
        sink.put(&["n:", ["0", "1", "2", "3", "4", "5"][words.len().min(5)]]);
        let (Some(first), Some(last)) = (words.first().copied(), words.last().copied()) else { return };
        let one = if words.len() == 1 { "1" } else { "" };
        for at in &words {
            for kind in WordKinds::of(text, *at) {
                sink.put(&["any:", kind]);
                if *at == first {
                    sink.put(&[one, "first:", kind]);
                }
                if *at == last {
                    sink.put(&[one, "last:", kind]);
                }
            }
        }
        let shapes: Vec<&str> = words.iter().take(4).map(|at| shape(text.raw_word(*at))).collect();
        sink.put(&["shape:", &shapes.join(" ")]);
        if words.len() == 2 {
            let (a, b) = (WordKinds::of(text, first).first(), WordKinds::of(text, last).first());
            sink.put(&["kinds:", a, " ", b]);
        }
        let ending = text.raw_word(last).to_lowercase();
        sink.put(&["last=", &ending]);
        sink.put(&["first=", &text.raw_word(first).to_lowercase()]);
        let ends = ending.char_indices().rev().skip(1).take(3).filter(|(at, _)| *at > 0);
        for (at, _) in ends {
            sink.put(&[one, "end:", &ending[at..]]);
        }
        if words.len() == 1 {
            let length = ending.chars().count().min(12).to_string();
            sink.put(&["length:", &length]);
        }
        for joint in JOINTS {
            if tokens.clone().any(|at| text.word(at) == joint) {
                sink.put(&["in:", joint]);
            }
        }
        for part in ending.split('-').skip(1) {
            sink.put(&["part:", part]);
        }
    }

    /// One place where it stands.
    pub(super) fn place(&mut self, parsed: &ParsedSegment<'_>, tokens: &Range<usize>) {
        let text = &parsed.text;
        let opens_line = tokens.start == 0 || text.ends_line(tokens.start - 1);
        let ends_line = text.ends_line(tokens.end - 1);
        let before = if opens_line { None } else { tokens.start.checked_sub(1) };
        let next = if ends_line { None } else { Some(tokens.end) };
        let large = |at: usize| text.is_capitalised(at);
        let opens =
            before.is_none_or(|at| !(text.is_word(at) || text.is_any(at, &[",", "(", "'s", "&", "/"])));
        let goes_before = before.filter(|at| spaced(text, *at) && large(*at));
        let goes_on = next.filter(|at| spaced(text, *at - 1) && large(*at));
        if let Some(at) = goes_before {
            self.sink.put(&["gb:", if opens { "s" } else { "m" }, WordKinds::of(text, at).first()]);
        }
        if let Some(at) = goes_on {
            self.sink.put(&["go:", WordKinds::of(text, at).first()]);
        }
        self.alone += usize::from(goes_before.is_none() && goes_on.is_none());
        self.is_in_midst |= !opens;
        self.sink.put(&["p1:", before.map_or("^", |at| beside(parsed, at, opens))]);
        self.sink.put(&["n1:", next.map_or("$", |at| beside(parsed, at, opens))]);
        if let Some(at) = before {
            self.led += usize::from(text.word(at) == "the");
            for kind in WordKinds::of(text, at) {
                self.sink.put(&["pk:", kind]);
            }
        }
        if let Some(at) = next {
            for kind in WordKinds::of(text, at) {
                self.sink.put(&["nk:", kind]);
            }
            if let Some(verb) = verbs::of(text.word(at)) {
                let class = match verb.class {
                    Class::Deed => "deed",
                    Class::Idle => "idle",
                    Class::Harm => "harm",
                    Class::Shift => "shift",
                };
                let form = match () {
                    () if verb.ing => "ing",
                    () if verb.past => "past",
                    () if verb.third => "third",
                    () => "base",
                };
                self.sink.put(&["nv:", class, form]);
            }
        }
        if begins_line(text, tokens.start) && ends_line {
            self.sink.put(&["line:whole"]);
        }
        self.form(parsed, text.tokens[tokens.start].start);
    }

    /// In what kind of a block it stands, of a row under which head.
    fn form(&mut self, parsed: &ParsedSegment<'_>, start: usize) {
        let blocks = &parsed.layout.blocks;
        let block = blocks.get(blocks.partition_point(|block| block.bytes.end <= start));
        match block.filter(|block| block.bytes.start <= start).map(|block| &block.form) {
            None => self.sink.put(&["form:none"]),
            Some(Form::Item { .. }) => self.sink.put(&["form:item"]),
            Some(Form::Prose) => self.sink.put(&["form:prose"]),
            Some(Form::Row { cells, heads }) => {
                self.sink.put(&["form:row"]);
                let cell = cells.iter().position(|cell| cell.contains(&start));
                if let Some(head) = cell.and_then(|cell| heads.get(cell)) {
                    self.sink.put(&["head:", head]);
                }
            }
        }
    }

    /// What the whole text does with it.
    pub(super) fn whole(&mut self, name: &str, page: &Page, places: usize) {
        let sink = &mut *self.sink;
        if self.is_in_midst {
            sink.put(&["midst"]);
        }
        let bucket = |count: usize| ["0", "1", "2", "3", "3", "5"][count.min(5)];
        sink.put(&["count:", bucket(places)]);
        sink.put(&["alone:", bucket(self.alone.min(3))]);
        if self.led > 0 {
            sink.put(&["the:", if self.led * 2 > places { "most" } else { "some" }]);
        }
        let lower = name.to_lowercase();
        let (mut words, mut small) = (0, 0);
        for word in lower.split(' ') {
            words += 1;
            small += usize::from(page.small.contains(&stable_hash(word)));
        }
        let how = match small {
            0 => "none",
            _ if small == words => "all",
            _ => "some",
        };
        sink.put(&["small:", how]);
        if page.title.contains(&lower) {
            sink.put(&["titled"]);
        }
        if page.people.contains(&lower) {
            sink.put(&["part:whole"]);
        } else if page.parts_of_people.contains(&lower) {
            sink.put(&["part:part"]);
        }
    }
}

/// A token beside a name, with names, numbers and days as their class.
fn beside<'s>(parsed: &'s ParsedSegment<'_>, at: usize, opens: bool) -> &'s str {
    let text = &parsed.text;
    if let Some(mention) = parsed.mention(at) {
        return match mention.entity_type {
            EntityType::Person => "<person>",
            EntityType::Org => "<org>",
            EntityType::Project => "<project>",
            EntityType::Object => "<object>",
            EntityType::Place => "<place>",
            EntityType::Other => "<other>",
        };
    }
    match text.kind(at) {
        Some(Kind::Number) => "<num>",
        Some(Kind::Email) => "<mail>",
        Some(Kind::Handle) => "<handle>",
        Some(Kind::Link) => "<link>",
        _ if calendar_word(text.word(at)).is_some() => "<day>",
        _ if text.is_capitalised(at) && !opens => "<cap>",
        _ => text.word(at),
    }
}

/// How a word is written: "Aa", "AaAa", "AA", "a-a".
fn shape(raw: &str) -> &'static str {
    let letters = raw.chars().filter(|c| c.is_alphabetic()).count();
    let large = raw.chars().filter(|c| c.is_uppercase()).count();
    let digit = raw.bytes().any(|b| b.is_ascii_digit());
    let first = raw.starts_with(char::is_uppercase);
    match () {
        () if letters == 0 => "0",
        () if large == letters && digit => "A0",
        () if large == letters && letters > 4 => "AAAAA",
        () if large == letters && letters > 1 => "AA",
        () if large == letters => "A",
        () if large == 0 && digit => "a0",
        () if large == 0 && raw.contains(['-', '_', '.']) => "a-a",
        () if large == 0 => "aa",
        () if first && digit => "Aa0",
        () if first && large == 1 && raw.contains('-') => "Aa-a",
        () if first && large == 1 => "Aa",
        () if raw.contains('-') => "Aa-Aa",
        () if first => "AaAa",
        () => "aA",
    }
}
