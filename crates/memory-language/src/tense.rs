//! Whether a question is of how things are, of what happened, or of how things were before.

use crate::text::words_of;

/// What time a question is about by its verbs, where it names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tense {
    /// "Which database do we use?"
    #[default]
    Present,
    /// "What did we decide about the database?"
    Past,
    /// "Which database did we use before?": what has been replaced is asked for.
    Before,
}

/// In English, German, French, Spanish and Italian.
const PAST: [&str; 23] = [
    "did", "didn", "was", "wasn", "were", "weren", "had", "war", "waren", "wurde", "wurden", "hatte",
    "hatten", "était", "étaient", "avait", "avaient", "fue", "fueron", "había", "habían", "eran", "aveva",
];
const BEFORE: [&str; 20] = [
    "previous",
    "previously",
    "former",
    "formerly",
    "original",
    "originally",
    "initial",
    "initially",
    "früher",
    "vorher",
    "damals",
    "ursprünglich",
    "auparavant",
    "autrefois",
    "initialement",
    "anteriormente",
    "originalmente",
    "precedente",
    "inizialmente",
    "historically",
];
/// The same at the end of a question or beside a verb of the past: "what did we use before Postmark?", but not "what must I check
/// before a release?".
const BEFORE_IN_PAST: [&str; 8] = ["before", "earlier", "first", "old", "until", "avant", "antes", "prima"];

/// How many words of a sentence are looked at.
const FIRST_WORDS: usize = 40;

impl Tense {
    pub fn of(question: &str) -> Self {
        let words: Vec<String> = words_of(question).map(str::to_lowercase).collect();
        let is_any = |list: &[&str], word: &String| list.contains(&word.as_str());
        let has_past = words.iter().any(|word| is_any(&PAST, word));
        let ends_before =
            words.last().is_some_and(|word| is_any(&["before", "antes", "avant", "prima"], word));
        let is_before = words.iter().any(|word| is_any(&BEFORE, word))
            || has_past && words.iter().any(|word| is_any(&BEFORE_IN_PAST, word))
            || ends_before
            || is_used_to(&words);
        match (is_before, has_past) {
            (true, _) => Self::Before,
            (_, true) => Self::Past,
            _ => Self::Present,
        }
    }

    /// Whether a verb of the question is of the past.
    pub(crate) fn has_past(question: &str) -> bool {
        words_of(question).any(|word| PAST.contains(&word.to_lowercase().as_str()))
    }
}

/// "What we used to pay", "where did it use to be"; but not "which tool is used to deploy".
fn is_used_to(words: &[String]) -> bool {
    (1..words.len()).any(|at| {
        let before = at.checked_sub(2).map_or("", |before| words[before].as_str());
        words[at] == "to"
            && match words[at - 1].as_str() {
                "used" => !matches!(before, "is" | "are" | "be" | "s" | "re"),
                "use" => words[..at].iter().any(|word| word == "did" || word == "didn"),
                _ => false,
            }
    })
}

/// What tells of things to come.
const COMES: [&str; 22] = [
    "must", "should", "ought", "need", "needs", "will", "ll", "would", "want", "wants", "plan", "plans",
    "planning", "planned", "wish", "wishes", "hope", "hoping", "maybe", "next", "tomorrow", "going",
];
/// What is told as done, where it ends in no "-ed".
const DONE: [&str; 75] = [
    "was", "were", "had", "did", "went", "got", "came", "took", "said", "made", "gave", "saw", "found",
    "met", "told", "left", "ran", "sent", "brought", "bought", "wrote", "spoke", "put", "has", "rang",
    "held", "kept", "paid", "sold", "ate", "became", "began", "blew", "broke", "built", "caught", "chose",
    "dealt", "drank", "drew", "drove", "dug", "fell", "felt", "flew", "forgot", "fought", "froze", "grew",
    "heard", "hid", "hung", "knew", "led", "lent", "lost", "meant", "rode", "sang", "sank", "shook", "shut",
    "slept", "spent", "stole", "stood", "swam", "swept", "taught", "thought", "threw", "woke", "won", "wore",
    "laid",
];

/// Whether a text begins with what is to come, and tells of nothing done: "Must ring Ingrid next week".
pub fn begins_with_plans(text: &str) -> bool {
    let sentence = text.trim_start().split_inclusive(['.', '!', '?', '\n']).next().unwrap_or("");
    tells_of_plans(sentence) && !tells_of_done(sentence)
}

/// Whether a sentence tells of what is to come: "the optician wants to see her".
pub(crate) fn tells_of_plans(sentence: &str) -> bool {
    first_words(sentence).any(|word| COMES.contains(&word.as_str()))
}

/// Whether a sentence, or a question, has a verb of the past: "rang Ingrid", "who wrote that?"
pub(crate) fn tells_of_done(sentence: &str) -> bool {
    first_words(sentence).any(|word| {
        DONE.contains(&word.as_str()) || word.len() > 4 && word.ends_with("ed") && word != "planned"
    })
}

/// How far before a date the verb of an arrangement may begin.
const ARRANGED_WORDS: usize = 8;
/// Behind "'s" these are nouns: "Anna's meeting on Friday".
const NOUNS_IN_ING: [&str; 16] = [
    "booking",
    "briefing",
    "building",
    "evening",
    "everything",
    "hearing",
    "meeting",
    "morning",
    "nothing",
    "painting",
    "reading",
    "recording",
    "something",
    "thing",
    "training",
    "wedding",
];

/// Whether the words before a date end in what is arranged for it: "the scanner's being serviced on", "we are leaving on".
pub fn tells_of_arranged(before: &str) -> bool {
    let words: Vec<String> = words_of(before).map(str::to_lowercase).collect();
    let near = &words[words.len().saturating_sub(ARRANGED_WORDS)..];
    let is_be = |word: &str| matches!(word, "is" | "are" | "am" | "s" | "re" | "m");
    let is_ing = |word: &str| word.len() > 4 && word.ends_with("ing") && !NOUNS_IN_ING.contains(&word);
    let Some(ing) = near.iter().rposition(|word| is_ing(word)) else { return false };
    let be = near[..ing].iter().rposition(|word| is_be(word));
    // "Is still coming": an adverb at most stands between.
    if be.is_none_or(|be| ing - be > 2) {
        return false;
    }
    let is_passive = matches!(near[ing].as_str(), "being" | "getting");
    let rest = near[ing + 1 + usize::from(is_passive && ing + 1 < near.len())..].join(" ");
    !tells_of_done(&rest)
}

fn first_words(sentence: &str) -> impl Iterator<Item = String> {
    words_of(sentence).take(FIRST_WORDS).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_with_plans() {
        for text in [
            "Must ring Ingrid next week.",
            "I really ought to see the dentist.",
            "We'll try again. It failed.",
        ] {
            assert!(begins_with_plans(text), "{text}");
        }
        for text in
            ["Rang Ingrid, she will call back.", "We had planned to go.", "Dentist, no X-ray needed.", ""]
        {
            assert!(!begins_with_plans(text), "{text}");
        }
    }

    #[test]
    fn what_is_arranged_for_a_day_is_told_in_the_present() {
        for before in [
            "Hospital rang: scanner's being serviced on",
            "the scanner is being serviced on",
            "We're leaving for Rome on",
            "She is still coming to us on",
            "they said the road is closing on",
        ] {
            assert!(tells_of_arranged(before), "{before}");
        }
        for before in [
            "the scanner was being serviced on",
            "Anna's meeting on",
            "I'm telling you we met on",
            "the building was closed on",
            "is it the one we saw while driving on",
            "",
        ] {
            assert!(!tells_of_arranged(before), "{before}");
        }
    }

    #[test]
    fn verbs_say_of_when_a_question_is() {
        for (question, tense) in [
            ("Which database does the catalogue use?", Tense::Present),
            ("database catalogue", Tense::Present),
            ("Wer hat heute Dienst?", Tense::Present),
            ("How old is Mia?", Tense::Present),
            ("Who is first on call?", Tense::Present),
            ("Until when is the office open?", Tense::Present),
            ("What must I check before a release?", Tense::Present),
            ("Which tool is used to deploy the site?", Tense::Present),
            ("What did we decide about the database?", Tense::Past),
            ("Wasn't the release in May?", Tense::Past),
            ("Wo waren wir im Urlaub?", Tense::Past),
            ("Which database did we use before Postgres?", Tense::Before),
            ("and before?", Tense::Before),
            ("What was the first date of the release?", Tense::Before),
            ("Where did the key use to be?", Tense::Before),
            ("what we used to pay", Tense::Before),
            ("¿Qué usábamos antes?", Tense::Before),
        ] {
            assert_eq!(Tense::of(question), tense, "{question}");
        }
    }
}
