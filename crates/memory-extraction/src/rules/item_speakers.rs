//! Who speaks in the items of a list: the one at their head, or in the item above them.

use std::ops::Range;

use super::layout::Form;
use super::parsed_segment::ParsedSegment;
use super::people::Roster;
use super::sections::Section;

impl ParsedSegment<'_> {
    /// In a list, who is named at the head of an item says its "I": "- Nils: I'll put up a draft"; who is all of an item, what stands in the
    /// deeper ones below it.
    pub(super) fn give_items_their_speakers(&mut self, roster: &Roster) {
        let mut above: Option<(usize, usize)> = None;
        for number in 0..self.layout.blocks.len() {
            let block = &self.layout.blocks[number];
            let Form::Item { indent, .. } = block.form else {
                above = None;
                continue;
            };
            above = above.filter(|(level, _)| *level < indent);
            if block.labelled || block.section != Section::Open || block.speaker.is_some() {
                continue;
            }
            let tokens = self.text.tokens_in(&block.bytes);
            let leader = self.leader_of(&tokens);
            if leader.is_none() && self.is_name(&tokens) {
                above = self.people_in(&tokens).first().map(|person| (indent, *person));
                continue;
            }
            // "I'll send him the contract" below a name is said of that one.
            let of_them = tokens.clone().any(|at| self.text.is_any(at, &["he", "him", "his", "she", "her"]));
            let above_it = above.map(|(_, person)| person).filter(|_| !of_them);
            if let Some(entity) = leader.or(above_it) {
                self.layout.blocks[number].speaker = Some(roster.entities[entity].name.clone());
            }
        }
    }

    /// "**Kim Larsen**": nothing but one person's name.
    fn is_name(&self, tokens: &Range<usize>) -> bool {
        let mut rest = tokens.clone().filter(|at| !self.text.is_any(*at, &["*", "_", ":"]));
        let Some(mention) = rest.next().and_then(|at| self.person(at)) else { return false };
        rest.all(|at| mention.tokens.contains(&at))
    }

    /// The person before a colon at the head of an item in which "I" is said.
    fn leader_of(&self, tokens: &Range<usize>) -> Option<usize> {
        let text = &self.text;
        let mark = |at: &usize| !text.is_any(*at, &["*", "_", "[", "]", "`"]);
        let at = tokens.clone().take(4).find(mark)?;
        let mention = self.person(at)?;
        let mut after = mention.tokens.end;
        if text.word(after) == "(" {
            after = (after..tokens.end.min(after + 8)).find(|end| text.word(*end) == ")")? + 1;
        }
        let after = (after..after + 3).find(mark)?;
        let says = text.word(after) == ":"
            && (after + 1..tokens.end).any(|near| text.is_any(near, &["i", "my", "me", "we", "our"]));
        says.then_some(mention.entity)
    }
}
