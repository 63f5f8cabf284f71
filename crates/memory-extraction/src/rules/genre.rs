//! Genres in which cues mean nothing: newsletters, recipes, stories, manuals, articles, other languages, jokes.

use memory_core::artifact::Context;
use memory_core::ports::SourceText;
use memory_language::calendar_words::{CalendarWord, Spelling, calendar_word};

use super::irony::is_joke;
use super::parsed_segment::ParsedSegment;
use super::sections::Section;

/// More than any draft has.
const NOTHING: f32 = 2.0;

/// How sure an event must be in a text of this kind.
pub(super) fn confidence_wanted(source: &SourceText, parsed: &ParsedSegment<'_>) -> f32 {
    let text = &parsed.text;
    let mut counts = Counts::default();
    for at in 0..text.tokens.len().min(20_000) {
        counts.take(parsed, at);
    }
    if counts.words >= 30 && counts.foreign > counts.english {
        return NOTHING;
    }
    if counts.mailing >= 1 && counts.mailing + counts.selling >= 2 {
        return 0.9;
    }
    if counts.kitchen >= 4 {
        return 0.95;
    }
    let turns = parsed.layout.blocks.iter().filter(|block| block.speaker.is_some()).count();
    if turns >= 4 && counts.jokes >= 3 && counts.jokes * 5 >= turns {
        return 0.8;
    }
    if is_placed(source, parsed) {
        return 0.0;
    }
    let sectioned =
        parsed.layout.blocks.iter().any(|block| block.labelled || matches!(block.section, Section::Prior(_)));
    unplaced(&counts, sectioned)
}

/// A text of people about what they do: it has a writer, speakers, those present or sections that say so.
fn is_placed(source: &SourceText, parsed: &ParsedSegment<'_>) -> bool {
    let layout = &parsed.layout;
    let context = !matches!(source.context, Context::Document | Context::Note);
    context
        || parsed.speaker.is_some()
        || source.author.is_some()
        || !source.participants.is_empty()
        || !layout.people.is_empty()
        || layout.from.is_some()
        || layout.by.is_some()
        || layout.speakers.len() > 1
}

fn unplaced(counts: &Counts, sectioned: bool) -> f32 {
    let words = counts.words.max(1) as f32;
    let third = counts.third as f32 / words;
    if counts.dialogue >= 2 || (counts.words >= 40 && third >= 0.05 && counts.first == 0) {
        return 0.9;
    }
    // A text that addresses its reader instructs or sells.
    if counts.words >= 40 && counts.second as f32 / words >= 0.03 && counts.second > counts.first {
        return 0.9;
    }
    // Questions and their answers, to no one in particular.
    if counts.questions >= 4 && counts.questions * 40 >= counts.words {
        return 0.9;
    }
    // A text of rules: "the licensee shall", "must not".
    if counts.words >= 40 && counts.rules as f32 / words >= 0.012 && counts.near == 0 {
        return 0.9;
    }
    // Neither "we" nor a near day: an article tells how things are, not what happened here.
    if !sectioned && counts.words >= 40 && counts.first == 0 && counts.near == 0 {
        return if counts.days >= 2 { 0.6 } else { 0.74 };
    }
    0.0
}

#[derive(Default)]
struct Counts {
    words: usize,
    mailing: usize,
    selling: usize,
    kitchen: usize,
    dialogue: usize,
    first: usize,
    /// Days near to the writing.
    near: usize,
    /// Months, as dated lists have them.
    days: usize,
    second: usize,
    third: usize,
    rules: usize,
    jokes: usize,
    questions: usize,
    english: usize,
    foreign: usize,
}

impl Counts {
    fn take(&mut self, parsed: &ParsedSegment<'_>, at: usize) {
        let text = &parsed.text;
        let word = text.word(at);
        self.jokes += usize::from(
            is_joke(word) || matches!(word, "obviously" | "totally" | "naturally" | "obv" | "ofc"),
        );
        self.questions += usize::from(word == "?");
        if !text.is_word(at) {
            return;
        }
        self.words += 1;
        self.language(word);
        match word {
            "unsubscribe" | "newsletter" => self.mailing += 1,
            "subscribe" | "subscribers" | "sponsored" | "webinar" | "discount" | "browser" | "offer"
            | "readers" => self.selling += 1,
            "preheat" | "tablespoon" | "tablespoons" | "teaspoon" | "teaspoons" | "tbsp" | "tsp" | "oven"
            | "simmer" | "simmering" | "flour" | "butter" | "garlic" | "whisk" | "cups" | "skillet"
            | "saucepan" | "onion" | "dough" | "cinnamon" | "pinch" | "breadcrumbs" | "stir" | "serves" => {
                self.kitchen += 1;
            }
            "said" | "whispered" | "murmured" | "replied" | "sighed" | "laughed" | "muttered" | "shouted"
            | "asked" => {
                let floor = at.saturating_sub(3);
                self.dialogue += usize::from((floor..at + 4).any(|near| parsed.is_quote_mark(near)));
            }
            "i" | "we" | "our" | "us" | "my" => self.first += 1,
            "today" | "tomorrow" | "yesterday" | "week" | "eod" | "sprint" => self.near += 1,
            "you" | "your" => self.second += 1,
            "he" | "she" | "his" | "her" | "him" => self.third += 1,
            "shall" | "must" | "may" | "hereby" | "thereof" | "herein" | "licence" | "license" | "liable"
            | "warranty" => self.rules += 1,
            _ => self.calendar(word),
        }
    }

    /// "may" and "march" are mostly other words, and so not counted.
    fn calendar(&mut self, word: &str) {
        match calendar_word(word) {
            Some((CalendarWord::Weekday(_), Spelling::Full)) => self.near += 1,
            Some((CalendarWord::Month(3 | 5), Spelling::Full)) => {}
            Some((CalendarWord::Month(_), Spelling::Full | Spelling::Short)) => self.days += 1,
            _ => {}
        }
    }

    fn language(&mut self, word: &str) {
        match word {
            "the" | "and" | "to" | "of" | "is" | "for" | "it" | "we" | "on" | "that" | "with" | "was"
            | "be" | "at" | "by" | "from" | "not" => {
                self.english += 1;
            }
            "der" | "die" | "das" | "und" | "ist" | "nicht" | "ein" | "eine" | "mit" | "für" | "auf"
            | "von" | "zu" | "im" | "den" | "le" | "la" | "les" | "des" | "et" | "est" | "une" | "dans"
            | "pour" | "qui" | "vous" | "el" | "los" | "las" | "y" | "una" | "para" | "que" | "con"
            | "por" | "il" | "di" | "e" | "che" | "per" | "het" | "een" | "van" | "niet" | "os" | "não"
            | "do" | "em" | "och" | "att" | "det" | "som" | "du" | "au" | "sur" | "de" | "del" | "je"
            | "sie" | "wir" | "ich" | "na" | "se" | "jest" | "nie" => self.foreign += 1,
            _ => {}
        }
    }
}
