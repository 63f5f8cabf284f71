//! Questions about many things at once: "list in order what I brought up about the garden", "summarise our talks about
//! taxes". What they are about stands among words that say how it is to be told, and no text about it has those.

use crate::asked_for::{AskedFor, asked_for, asks_for_order};

/// A question whose answer is spread over a conversation, or over many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AboutMany {
    /// The question without the words that only ask; all of it where little else is left.
    pub subject: String,
    /// Each of its conversations counts, for what happened or was said there. A summary may be of one.
    pub is_spread: bool,
}

/// What a question is about that asks for a summary, for the order of time, or for what all conversations say; `None` of any other.
pub fn about_many(question: &str) -> Option<AboutMany> {
    let asked = without_form(question);
    let mut read = Read::new(&asked);
    read.strike_out();
    let is_summary = asked_for(question) == AskedFor::Summary;
    let is_spread = asks_for_order(question) || read.spans_conversations;
    (is_summary || is_spread)
        .then(|| AboutMany { subject: read.left(question), is_spread: is_spread && !is_summary })
}

/// Said of the one who answers, and of what is wanted.
const ASKING: [&str; 38] = [
    "i want you to",
    "i'd like you to",
    "i would like you to",
    "can you",
    "could you",
    "would you",
    "will you",
    "please",
    "kindly",
    "help me understand",
    "walk me through",
    "take me through",
    "tell me about",
    "tell me",
    "show me",
    "give me",
    "provide me with",
    "provide",
    "list",
    "name",
    "recount",
    "summarize",
    "summarise",
    "recap",
    "how many",
    "what are the",
    "what were the",
    "in what order",
    "in which order",
    "the order in which",
    "order in which",
    "the order that",
    "in chronological order",
    "chronological order",
    "chronologically",
    "in sequence",
    "in order",
    "over time",
];
const VAGUE: [&str; 9] = [
    "so far",
    "up to now",
    "until now",
    "different",
    "various",
    "several",
    "aspects of",
    "types of",
    "kinds of",
];
/// "A short summary of".
const KINDS_OF_SUMMARY: [&str; 13] = [
    "clear",
    "comprehensive",
    "brief",
    "short",
    "detailed",
    "complete",
    "full",
    "quick",
    "concise",
    "thorough",
    "chronological",
    "overall",
    "general",
];
const SUMMARIES: [&str; 6] = ["summary", "overview", "recap", "timeline", "chronology", "list"];
/// "I brought up", "did we talk about".
const SAID: [&str; 24] = [
    "brought up",
    "mentioned",
    "discussed",
    "talked about",
    "spoke about",
    "raised",
    "covered",
    "asked about",
    "told you about",
    "told you",
    "said",
    "shared",
    "bring up",
    "mention",
    "discuss",
    "talk about",
    "speak about",
    "raise",
    "cover",
    "ask about",
    "tell you about",
    "tell you",
    "say",
    "share",
];
/// "Throughout all of our recent conversations".
const SPANNING: [&str; 9] =
    ["throughout", "across", "over", "during", "in", "from", "through", "within", "since"];
const WHOSE: [&str; 4] = ["our", "my", "all", "every"];
const THESE: [&str; 3] = ["the", "these", "of"];
const CONVERSATIONS: [&str; 3] = ["conversations", "chats", "sessions"];
/// These only where it is said whose they are.
const TALKS: [&str; 6] = ["conversation", "chat", "discussions", "talks", "messages", "questions"];
/// How many words may stand between whose conversations they are and their name.
const BETWEEN_MAX: usize = 2;
/// What a further sentence begins with that says what the answer is to look like.
const OF_FORM: [&str; 13] = [
    "mention", "list", "name", "give", "include", "use", "keep", "limit", "answer", "respond", "reply",
    "write", "only",
];
/// What may be left over at the beginning.
const LEFT_OVER: [&str; 10] = ["how", "that", "of", "about", "what", "which", "and", "do", "does", "have"];
/// With fewer words nothing is asked.
const SUBJECT_MIN: usize = 2;

/// The question without further sentences on what the answer is to look like: "Mention only five items."
fn without_form(question: &str) -> String {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, mark) in question.char_indices() {
        let end = at + mark.len_utf8();
        if matches!(mark, '.' | '?' | '!') && question[end..].starts_with(char::is_whitespace) {
            sentences.push(&question[start..end]);
            start = end;
        }
    }
    sentences.push(&question[start..]);
    let is_kept = |(n, sentence): &(usize, &str)| {
        let first = words(sentence).into_iter().next();
        *n == 0 || !first.is_some_and(|(_, _, word)| OF_FORM.contains(&word.as_str()))
    };
    sentences.into_iter().enumerate().filter(is_kept).map(|(_, sentence)| sentence).collect()
}

/// Where each word begins and ends, in bytes, and the word in lower case.
fn words(text: &str) -> Vec<(usize, usize, String)> {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '_');
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_of_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, at, text[from..at].to_lowercase().replace('’', "'")));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// A question word by word, and which of its words only ask.
struct Read<'a> {
    text: &'a str,
    words: Vec<(usize, usize, String)>,
    is_struck: Vec<bool>,
    spans_conversations: bool,
}

impl<'a> Read<'a> {
    fn new(text: &'a str) -> Self {
        let words = words(text);
        Self { text, is_struck: vec![false; words.len()], words, spans_conversations: false }
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |(_, _, word)| word.as_str())
    }

    fn strike_out(&mut self) {
        let mut at = 0;
        while at < self.words.len() {
            if let Some((end, name)) = self.spanning(at) {
                self.is_struck[at..end].fill(true);
                self.is_struck[name] = true;
                self.spans_conversations = true;
                at = end;
                continue;
            }
            let struck = self
                .longest(at, &ASKING)
                .max(self.longest(at, &VAGUE))
                .max(self.summary(at))
                .max(self.said(at));
            self.is_struck[at..at + struck].fill(true);
            at += struck.max(1);
        }
        for at in 0..self.words.len() {
            if !self.is_struck[at] && !LEFT_OVER.contains(&self.word(at)) {
                break;
            }
            self.is_struck[at] = true;
        }
    }

    /// How many words the longest of these phrases has that begins here.
    fn longest(&self, at: usize, phrases: &[&str]) -> usize {
        let length = |phrase: &&str| {
            let all = phrase.split(' ').enumerate().all(|(n, word)| self.word(at + n) == word);
            if all { phrase.split(' ').count() } else { 0 }
        };
        phrases.iter().map(length).max().unwrap_or(0)
    }

    /// "A short summary of".
    fn summary(&self, at: usize) -> usize {
        let mut end = at + usize::from(matches!(self.word(at), "a" | "an" | "the"));
        while KINDS_OF_SUMMARY.contains(&self.word(end)) {
            end += 1;
        }
        if end == at || !SUMMARIES.contains(&self.word(end)) {
            return 0;
        }
        end + 1 + usize::from(matches!(self.word(end + 1), "of" | "on" | "about")) - at
    }

    /// "I've mentioned", "did we talk about".
    fn said(&self, at: usize) -> usize {
        let verb = match (self.word(at), self.word(at + 1)) {
            ("did" | "have" | "had", "i" | "we") | ("i" | "we" | "you", "have" | "had") => at + 2,
            ("i" | "we" | "you" | "i've" | "we've" | "you've", _) => at + 1,
            _ => return 0,
        };
        match self.longest(verb, &SAID) {
            0 => 0,
            said => verb + said - at,
        }
    }

    /// "Throughout our recent conversations": where it ends but for what stands between, and the place of the last word.
    fn spanning(&self, at: usize) -> Option<(usize, usize)> {
        let whose = match (self.word(at), self.word(at + 1)) {
            ("based", "on") => at + 2,
            (word, _) if SPANNING.contains(&word) => at + 1,
            _ => return None,
        };
        let is_whose = |at: &usize| WHOSE.contains(&self.word(*at)) || THESE.contains(&self.word(*at));
        let end = (whose..self.words.len()).find(|at| !is_whose(at)).filter(|end| *end > whose)?;
        let is_said = (whose..end).any(|at| WHOSE.contains(&self.word(at)));
        let is_name = |word: &str| CONVERSATIONS.contains(&word) || (is_said && TALKS.contains(&word));
        let name = (end..=end + BETWEEN_MAX).find(|at| is_name(self.word(*at)))?;
        Some((end, name))
    }

    /// What is not struck out, or the whole question where that says nothing.
    fn left(&self, question: &str) -> String {
        if self.is_struck.iter().filter(|is_struck| !**is_struck).count() < SUBJECT_MIN {
            return question.to_owned();
        }
        let mut left = String::with_capacity(self.text.len());
        let mut from = 0;
        for ((start, end, _), is_struck) in self.words.iter().zip(&self.is_struck) {
            left.push_str(&self.text[from..if *is_struck { *start } else { *end }]);
            from = *end;
        }
        let left = left.split_whitespace().collect::<Vec<_>>().join(" ").replace(" ,", ",");
        left.trim_matches([' ', ',', '.', '?', '!']).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_question_about_many_things_is_about_is_told_from_how_it_asks() {
        for (question, subject, is_spread) in [
            (
                "Can you list the order in which I brought up different aspects of my garden plans throughout our \
                 conversations in order? Mention ONLY and ONLY five items.",
                "my garden plans",
                true,
            ),
            ("List in order what I told you about the move to Lisbon", "the move to Lisbon", true),
            ("Walk me through the kitchen repairs, in chronological order", "the kitchen repairs", true),
            ("How many different tools have I mentioned across my recent chats?", "tools recent", true),
            (
                "Can you give me a short summary of how the tax case developed over time?",
                "the tax case developed",
                false,
            ),
            ("Summarise our talks about insulation", "our talks about insulation", false),
            (
                "Considering all that was said across all sessions, what does the roof cost?",
                "Considering all that was said, what does the roof cost",
                true,
            ),
            (
                "In welcher Reihenfolge wurden die Server umgestellt?",
                "In welcher Reihenfolge wurden die Server umgestellt",
                true,
            ),
        ] {
            let expected = AboutMany { subject: subject.to_owned(), is_spread };
            assert_eq!(about_many(question), Some(expected), "{question}");
        }
    }

    #[test]
    fn a_question_about_one_thing_is_none_about_many() {
        for question in [
            "How many children does Bob have?",
            "What did Anna order for lunch?",
            "What do I need in order to deploy?",
            "Who was in the session on Monday?",
            "Is it in the messages from Bob?",
            "What did we decide in the meeting?",
            "",
        ] {
            assert_eq!(about_many(question), None, "{question}");
        }
    }

    #[test]
    fn where_nothing_is_left_the_whole_question_is_looked_for() {
        let question = "Can you summarize our conversations?";
        assert_eq!(about_many(question).unwrap().subject, "our conversations");
        let question = "Please give me a summary of the";
        assert_eq!(about_many(question).unwrap().subject, question);
    }
}
