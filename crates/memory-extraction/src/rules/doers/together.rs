//! Doers of whom there are several: "Ada and Bo mend it", "Ada brings the laptops, Bo the generator".

use super::super::verbs::{self, Class};
use super::{HEAD_TOKENS, Named, Place};

impl Place<'_, '_> {
    /// "Ada brings the laptops, Bo the generator": who does the other half.
    pub(super) fn join_others(&self, doers: &mut Vec<Named>, end: usize) {
        let text = &self.parsed.text;
        let [one] = doers.as_slice() else { return };
        let verb = one.tokens.end;
        if !verbs::of(text.word(verb)).is_some_and(|verb| verb.third && !verb.past) {
            return;
        }
        let is_half = |at: &usize| {
            let other = text.is_any(*at, &[",", ";"]).then(|| self.parsed.person(at + 1)).flatten();
            other.is_some_and(|other| {
                other.tokens.start == at + 1 && text.is_any(other.tokens.end, &["the", "for", "a"])
            })
        };
        let other = (verb + 2..end.min(verb + HEAD_TOKENS)).find(is_half);
        let other = other.and_then(|at| self.name(at + 1, end)).filter(|other| other.known != one.known);
        doers.extend(other);
    }

    /// "do", "go", "resplice" behind several names; no word of the past and none of what people know or think.
    pub(super) fn is_done_together(&self, at: usize) -> bool {
        let text = &self.parsed.text;
        let does = match verbs::of(text.word(at)) {
            Some(verb) => {
                verb.base && !verb.past && (verb.class != Class::Idle || text.is_any(at, &["do", "go"]))
            }
            // A word that no list has, with what it is done to.
            None => {
                !verbs::is_finite(text.word(at))
                    && text
                        .is_any(at + 1, &["it", "the", "this", "that", "them", "a", "an", "our", "up", "out"])
            }
        };
        does && text.is_word(at)
            && !text.is_capitalised(at)
            && !text.is_any(
                at,
                &["at", "before", "from", "for", "in", "of", "on", "with", "by", "not", "all", "both"],
            )
    }

    /// "Ray and his daughter will": behind those who go with the one who is named.
    pub(super) fn behind_kin(&self, and: usize, end: usize) -> Option<usize> {
        let text = &self.parsed.text;
        let is_kin = text.is_any(and + 1, &["his", "her", "their", "my", "our", "the", "a", "some"]);
        let after = (and + 3..end.min(and + 5)).find(|at| text.is_any(*at, &["will", "to", "'ll", "shall"]));
        after.filter(|_| is_kin)
    }
}
