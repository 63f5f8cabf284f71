//! Clauses: who is the subject of a phrase, and whether the phrase is said as a fact.

use std::cell::OnceCell;
use std::ops::Range;

use memory_core::entity::EntityType;

use super::irony::is_joke;
use super::lists;
use super::parsed_segment::ParsedSegment;
use super::third_person;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    /// The phrase opens the clause.
    Nobody,
    People(Vec<usize>),
    /// "I", whether or not it is known who that is.
    Me,
    We,
    /// A team, with its entity where it is named.
    Group(Option<usize>),
    They,
    /// Customers, users: people outside.
    Public,
    Thing,
}

/// What stands before a phrase.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word that may stand there, in any combination")]
pub(super) struct Lead {
    pub(super) subject: Subject,
    /// The first token of subject and auxiliaries.
    pub(super) from: usize,
    pub(super) negated: bool,
    pub(super) future: bool,
    /// "would", "could", "should", "might", "to".
    pub(super) modal: bool,
    /// A form of "be" or "get".
    pub(super) be: bool,
    /// One that tells of the past: "was", "has been".
    pub(super) was: bool,
    pub(super) hedged: bool,
}

/// A clause and what is known around it.
pub(super) struct Clause<'s, 'a> {
    pub(super) parsed: &'s ParsedSegment<'a>,
    pub(super) tokens: Range<usize>,
    pub(super) sentence: Range<usize>,
    /// The clause opens an item or a turn, where a subject is often left out.
    pub(super) opens: bool,
    /// It is an entry of a list or of a labelled line, where verbs are left out.
    pub(super) item: bool,
    /// It is said in a turn of a conversation or under its writer's name.
    pub(super) spoken: bool,
    pub(super) manner: OnceCell<Manner>,
}

/// How a sentence is said: asked for each of its words, so found once.
#[derive(Debug, Clone)]
pub(super) struct Manner {
    /// As a whole it is supposed, asked or a joke.
    supposed: bool,
    /// The first word after which what is said is only supposed.
    doubted_from: usize,
    /// Its quotation marks.
    marks: Vec<usize>,
}

impl Clause<'_, '_> {
    #[inline]
    pub(super) fn word(&self, at: usize) -> &str {
        self.parsed.text.word(at)
    }

    /// What stands before token `at`, auxiliaries skipped.
    pub(super) fn lead(&self, at: usize) -> Lead {
        let mut lead = Lead {
            subject: Subject::Nobody,
            from: at,
            negated: false,
            future: false,
            modal: false,
            be: false,
            was: false,
            hedged: false,
        };
        if self.word(at) == "ill" {
            lead.subject = Subject::Me;
            return lead;
        }
        let mut before = at;
        while before > self.tokens.start {
            let word = self.word(before - 1);
            match word {
                "will" | "'ll" | "shall" | "wo" | "going" => lead.future = true,
                "would" | "could" | "might" | "may" | "should" | "can" | "ca" | "must" | "'d" | "to"
                | "do" | "does" | "did" | "let" | "want" | "wants" | "wanted" | "trying" | "hope"
                | "hopes" | "need" | "needs" => lead.modal = true,
                "is" | "are" | "am" | "'m" | "'re" | "being" | "be" | "get" | "gets" => lead.be = true,
                "was" | "were" | "been" | "got" => {
                    lead.be = true;
                    lead.was = true;
                }
                "'s" if self.is_contracted_be(before - 1) => lead.be = true,
                "not" | "n't" | "never" | "hardly" | "neither" | "nor" | "no" | "without" | "cannot" => {
                    lead.negated = true;
                }
                "probably" | "possibly" | "maybe" | "perhaps" | "hopefully" | "tentatively" | "almost"
                | "nearly" => lead.hedged = true,
                "has" | "have" | "had" | "'ve" | "just" | "already" | "also" | "now" | "then" | "both"
                | "all" | "each" | "still" | "even" | "only" | "have-" | "yet" | "again" | "always"
                | "jointly" | "collectively" | "last" | "together" | "currently" => {}
                // "Emily will send it": she is no adverb.
                _ if word.len() > 4 && word.ends_with("ly") && self.parsed.mention(before - 1).is_none() => {}
                _ => break,
            }
            before -= 1;
        }
        lead.from = before;
        lead.subject = self.subject(before, &mut lead.from);
        // "no longer", "nobody agreed".
        lead.negated |= before > self.tokens.start
            && matches!(self.word(before - 1), "nobody" | "none" | "nothing" | "longer");
        lead
    }

    /// "she's", "that's"; after a name it is mostly a possessive.
    fn is_contracted_be(&self, at: usize) -> bool {
        at > self.tokens.start
            && (matches!(
                self.word(at - 1),
                "he" | "she" | "it" | "that" | "who" | "there" | "everyone" | "what"
            ) || matches!(
                self.word(at + 1),
                "going" | "working" | "waiting" | "blocked" | "taking" | "leaving" | "joining"
            ))
    }

    /// The subject that ends before token `end`; `from` becomes its first token.
    fn subject(&self, end: usize, from: &mut usize) -> Subject {
        let start = self.tokens.start;
        if end <= start {
            return Subject::Nobody;
        }
        let last = end - 1;
        if let Some(person) = self.whose_origin(last) {
            *from = person.start.max(start);
            return self.subject(person.end, from);
        }
        if let Some(mention) = self.parsed.person(last) {
            *from = mention.tokens.start.max(start);
            // "The neighbour of Beatrice will feed it".
            let before = from.checked_sub(2).filter(|before| *before >= start);
            if self.word(from.saturating_sub(1)) == "of" && before.is_some_and(|at| self.is_common(at)) {
                return Subject::Thing;
            }
            return self.people_before(mention.entity, from);
        }
        if let Some(mention) =
            self.parsed.mention(last).filter(|mention| mention.entity_type == EntityType::Org)
        {
            *from = mention.tokens.start.max(start);
            return Subject::Group(Some(mention.entity));
        }
        *from = last;
        match self.word(last) {
            "i" => Subject::Me,
            "we" => Subject::We,
            "he" | "she" => self.pronoun(last),
            "they" => Subject::They,
            // "Lucía and her team".
            "team" | "staff" | "people" | "group"
                if last >= start + 3
                    && matches!(self.word(last - 1), "her" | "his" | "their")
                    && matches!(self.word(last - 2), "and" | "&")
                    && self.parsed.person(last - 3).is_some() =>
            {
                self.subject(last - 2, from)
            }
            "team" | "everyone" | "everybody" | "group" | "committee" | "board" | "council"
            | "management" | "leadership" | "participants" | "attendees" | "legal" | "finance"
            | "procurement" | "hr" | "qa" | "engineering" | "marketing" | "compliance" => {
                Subject::Group(None)
            }
            word if lists::PUBLIC.contains(word) => Subject::Public,
            "who" => {
                self.subject(if self.word(last.saturating_sub(1)) == "," { last - 1 } else { last }, from)
            }
            ")" => match self.before_aside(last, "(", from) {
                Subject::Thing => self.public_aside(last, from),
                found => found,
            },
            "," => match self.before_aside(last, ",", from) {
                Subject::Thing => Subject::Nobody,
                found => found,
            },
            // "Alice finished the draft and sent it": the clause's own subject goes on.
            "and" | "then" | "&" => self.first_subject(from),
            "-" | "–" | "—" | ":" | "*" | "[" | "so" | "also" | "yes" | "ok" | "okay" | "!" | "\"" | "✅"
            | "um" | "uh" | "right" | "well" | "anyway" | "btw" | "fyi" | "fwiw" | "plus" | "ah" | "oh"
            | "hm" | "hmm" | "actually" | "basically" | "yesterday" | "today" | "finally" | "meanwhile"
            | "done" | "update" | "#" | "(" => Subject::Nobody,
            _ => Subject::Thing,
        }
    }

    /// "Lena Vogt from Brightwater will", "Raj from the platform team will": the tokens of the person, where a subject ends with
    /// whose or from where they are.
    fn whose_origin(&self, last: usize) -> Option<Range<usize>> {
        const ORIGIN_WORDS: usize = 3;
        let floor = self.tokens.start.max((last + 1).saturating_sub(ORIGIN_WORDS));
        let begin = match self.parsed.mention(last) {
            Some(mention) => mention.tokens.start,
            None => (floor..=last).rev().take_while(|at| self.is_common(*at)).last()?,
        };
        let article = begin.saturating_sub(1);
        let begin = if matches!(self.word(article), "the" | "our" | "their") { article } else { begin };
        let of = begin.checked_sub(1).filter(|of| matches!(self.word(*of), "from" | "of" | "at"))?;
        let person = self.parsed.person(of.checked_sub(1)?)?;
        (person.tokens.end == of && of > self.tokens.start).then(|| person.tokens.clone())
    }

    /// A word of the language in small letters, no name.
    fn is_common(&self, at: usize) -> bool {
        let text = &self.parsed.text;
        text.is_word(at) && !text.is_capitalised(at) && self.parsed.mention(at).is_none()
    }

    /// "Alice, Bob and Dana": collects the names before one.
    fn people_before(&self, entity: usize, from: &mut usize) -> Subject {
        let mut people = vec![entity];
        while *from > self.tokens.start + 1
            && matches!(self.word(*from - 1), "and" | "&" | "," | "/")
            && let Some(mention) = self.parsed.mention(*from - 2).filter(|mention| mention.can_act())
            // "According to Steve, Fiona does it".
            && !matches!(self.word(mention.tokens.start.saturating_sub(1)), "to" | "per")
        {
            people.insert(0, mention.entity);
            *from = mention.tokens.start;
        }
        people.dedup();
        Subject::People(people)
    }

    fn pronoun(&self, at: usize) -> Subject {
        match third_person::meant(self.parsed, &self.sentence, at) {
            Some(person) => Subject::People(vec![person]),
            None => Subject::They,
        }
    }

    /// "Alice (PM) will", "Alice, our PM, will".
    fn before_aside(&self, at: usize, open: &str, from: &mut usize) -> Subject {
        let floor = self.tokens.start.max(at.saturating_sub(8));
        let opening = (floor..at).rev().find(|back| self.word(*back) == open);
        match opening.filter(|opening| *opening > self.tokens.start) {
            Some(opening) if self.parsed.person(opening - 1).is_some() => self.subject(opening, from),
            // "Our QA, Ebba Nyström, spent …", "The agent (Ms Raatikainen) thinks …".
            Some(opening) => match self.parsed.person(opening + 1) {
                Some(mention) if mention.tokens.end <= at => {
                    *from = opening;
                    Subject::People(vec![mention.entity])
                }
                _ => Subject::Thing,
            },
            _ => Subject::Thing,
        }
    }

    /// "two guests (table 4) complained".
    fn public_aside(&self, at: usize, from: &mut usize) -> Subject {
        let floor = self.tokens.start.max(at.saturating_sub(10));
        let opening = (floor..at).rev().find(|back| self.word(*back) == "(");
        match opening.filter(|opening| *opening > self.tokens.start) {
            Some(opening) if lists::PUBLIC.contains(self.word(opening - 1)) => {
                *from = opening - 1;
                Subject::Public
            }
            _ => Subject::Thing,
        }
    }

    fn first_subject(&self, from: &mut usize) -> Subject {
        let start = self.tokens.start;
        *from = start;
        match (self.parsed.person(start), self.word(start)) {
            (Some(mention), _) => Subject::People(vec![mention.entity]),
            (None, "i") => Subject::Me,
            (None, "we") => Subject::We,
            (None, "she" | "he") => self.pronoun(start),
            _ => Subject::Thing,
        }
    }

    pub(super) fn is_question(&self) -> bool {
        let last = self.sentence.end.saturating_sub(1);
        let floor = self.sentence.start.max(self.sentence.end.saturating_sub(3));
        (floor..=last).any(|at| matches!(self.word(at), "?" | "？"))
    }

    /// Whether what is said up to token `at` is only supposed, asked or meant otherwise.
    pub(super) fn is_supposed(&self, at: usize) -> bool {
        let manner = self.manner();
        let near = self.sentence.start.max(at.saturating_sub(4));
        manner.supposed
            || manner.doubted_from < at
            || (near..at).any(|back| matches!(self.word(back), "should" | "could"))
    }

    fn manner(&self) -> &Manner {
        self.manner.get_or_init(|| {
            // A listed clause may go on behind its sentence.
            let mut reach = self.sentence.start..self.sentence.end.max(self.tokens.end);
            Manner {
                supposed: self.opens_supposed() || self.sentence.clone().any(|at| is_joke(self.word(at))),
                marks: reach.clone().filter(|at| self.parsed.is_quote_mark(*at)).collect(),
                doubted_from: reach.find(|at| self.doubts(*at)).unwrap_or(usize::MAX),
            }
        })
    }

    fn opens_supposed(&self) -> bool {
        let start = self.sentence.start;
        let opening = self.word(start);
        let next = self.word(start + 1);
        (opening == "sure" && next == ",")
            || (opening == "great" && next == "," && self.word(start + 2) == "another")
            || (matches!(opening, "oh" | "yeah") && matches!(next, "sure" | "right" | "great"))
            || matches!(
                opening,
                "if" | "unless"
                    | "whether"
                    | "suppose"
                    | "supposing"
                    | "assuming"
                    | "imagine"
                    | "maybe"
                    | "perhaps"
                    | "should"
                    | "could"
                    | "would"
                    | "sure,"
                    | "how"
                    | "what"
                    | "why"
            )
    }

    /// A word after which nothing is said as a fact.
    fn doubts(&self, at: usize) -> bool {
        match self.word(at) {
            "if" | "whether" | "unless" | "wonder" | "wondering" | "wish" | "imagine" | "pretend"
            | "maybe" | "perhaps" | "hypothetically" | "would" | "supposedly" | "unlikely"
            | "considering" | "propose" | "proposes" | "proposed" | "proposing" => true,
            "thinking" => matches!(self.word(at + 1), "about" | "of"),
            "in" => self.word(at + 1) == "case",
            _ => false,
        }
    }

    /// Whether what stands at a token is said as a fact.
    pub(super) fn is_told(&self, at: usize) -> bool {
        !self.is_question() && !self.is_quoted(at) && !self.is_supposed(at)
    }

    /// Whether a token stands between quotation marks.
    pub(super) fn is_quoted(&self, at: usize) -> bool {
        self.manner().marks.iter().filter(|mark| **mark < at).count() % 2 == 1
    }

    /// Whether a person, a team or an organisation stands soon after a token.
    pub(super) fn company_after(&self, at: usize) -> bool {
        (at..self.tokens.end.min(at + 6)).any(|near| {
            self.parsed
                .mention(near)
                .is_some_and(|mention| matches!(mention.entity_type, EntityType::Person | EntityType::Org))
                || matches!(
                    self.word(near),
                    "team" | "vendor" | "customer" | "client" | "supplier" | "stakeholders" | "department"
                )
        })
    }
}
