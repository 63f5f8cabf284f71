//! Words as the lexical index sees them: stems by language, exact identifiers, CJK bigrams.

mod languages;
mod tokens;

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use self::languages::{language_of, languages_of_query};
use self::tokens::{Token, for_each_token, lexeme};

/// Occurrences of one lexeme in a passage beyond this add nothing to its BM25 weight.
const MAX_COUNTED: u32 = 32;

/// The lexemes of one passage with how often each occurs, and its length in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LexemeCounts {
    pub counts: Vec<(String, u32)>,
    pub length: u32,
}

/// Counts the lexemes of a rendered passage. English text gives stems; text in another language gives
/// stems and the words as written, so that a short question whose language cannot be detected still matches them.
pub fn lexeme_counts(text: &str) -> LexemeCounts {
    let language = language_of(text);
    let stemmer = Stemmer::create(language.unwrap_or(Algorithm::English));
    let keep_exact = !matches!(language, None | Some(Algorithm::English));
    let mut counts: HashMap<String, u32> = HashMap::new();
    let mut length = 0;
    for_each_token(text, &mut |token| {
        let Token::Word(word) = token else {
            if let Token::Compound(lexeme) | Token::Bigram(lexeme) | Token::Ideograph(lexeme) = token {
                *counts.entry(lexeme).or_default() += 1;
            }
            return;
        };
        length += 1;
        let stem = stemmer.stem(&word).into_owned();
        if keep_exact && stem != word {
            *counts.entry(word).or_default() += 1;
        }
        *counts.entry(stem).or_default() += 1;
    });
    let mut counts: Vec<(String, u32)> = counts.into_iter().map(|(l, n)| (l, n.min(MAX_COUNTED))).collect();
    counts.sort_unstable();
    LexemeCounts { counts, length: length.max(1) }
}

/// A question as it is looked for in texts.
pub struct Query<'a> {
    text: &'a str,
    stemmers: Vec<Stemmer>,
    terms: Vec<Vec<String>>,
}

impl<'a> Query<'a> {
    pub fn new(text: &'a str) -> Self {
        let stemmers: Vec<Stemmer> = languages_of_query(text).into_iter().map(Stemmer::create).collect();
        let mut query = Self { text, stemmers, terms: Vec::new() };
        let mut terms: Vec<Vec<String>> = Vec::new();
        let mut add = |alternatives: Vec<String>| {
            if !terms.contains(&alternatives) {
                terms.push(alternatives);
            }
        };
        for_each_token(text, &mut |token| match token {
            Token::Word(word) => add(query.forms(word)),
            Token::Compound(lexeme) | Token::Bigram(lexeme) => add(vec![lexeme]),
            Token::Ideograph(lexeme) if text.trim().chars().count() == 1 => add(vec![lexeme]),
            Token::Ideograph(_) => {}
        });
        query.terms = terms;
        query
    }

    /// Each term lists its alternative lexemes; a passage matches a term by any of them.
    pub fn terms(&self) -> &[Vec<String>] {
        &self.terms
    }

    /// The words of the question one by one, in order.
    pub fn words(&self) -> Vec<QueryWord> {
        let words = self.text.unicode_word_indices().flat_map(|(at, word)| {
            let parts = word.split(['.', '_', ':']);
            parts.map(move |part| (at + (part.as_ptr() as usize - word.as_ptr() as usize), part))
        });
        words
            .filter(|(_, part)| !part.is_empty())
            .map(|(start, part)| {
                let trimmed = part.trim_end_matches("'s").trim_end_matches("’s");
                let bare = lexeme(trimmed);
                let is_function_word = FUNCTION_WORDS.contains(&bare.as_str());
                QueryWord { start, end: start + trimmed.len(), lexemes: self.forms(bare), is_function_word }
            })
            .collect()
    }

    /// Whether a word may have a form that is looked for. Stemmers leave the first two letters as they are, where
    /// these are of ASCII and the second is no y, so that most words of a text need not be stemmed, which in
    /// several languages takes its time.
    fn may_stand_for(&self, word: &str) -> bool {
        let firm = match word.as_bytes() {
            [first, ..] if !first.is_ascii() => 0,
            [_, second, ..] if second.is_ascii() && *second != b'y' => 2,
            _ => 1,
        };
        let begins_alike = |lexeme: &String| lexeme.bytes().zip(word.bytes()).take(firm).all(|(a, b)| a == b);
        firm == 0 || self.terms.iter().flatten().any(begins_alike)
    }

    /// Tells how much of the question texts have.
    pub fn reader(&self) -> Reader<'_> {
        let mut terms_of: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, term) in self.terms.iter().enumerate() {
            for lexeme in term {
                terms_of.entry(lexeme).or_default().push(at);
            }
        }
        Reader { query: self, terms_of, read: HashMap::new() }
    }

    /// The alternatives of a word in the index.
    fn forms(&self, word: String) -> Vec<String> {
        let mut forms: Vec<String> = self.stemmers.iter().map(|s| s.stem(&word).into_owned()).collect();
        forms.push(word);
        forms.sort_unstable();
        forms.dedup();
        forms
    }
}

/// Reads texts for what they have of a question, each word but once.
pub struct Reader<'q> {
    query: &'q Query<'q>,
    /// The terms of a lexeme.
    terms_of: HashMap<&'q str, Vec<usize>>,
    /// The terms of the words that were read.
    read: HashMap<String, Vec<usize>>,
}

impl Reader<'_> {
    /// How many terms the question has.
    pub fn term_count(&self) -> usize {
        self.query.terms.len()
    }

    /// How many of the terms a text has.
    pub fn met_by(&mut self, text: &str) -> usize {
        let mut has = vec![false; self.query.terms.len()];
        for_each_token(text, &mut |token| {
            let terms = match &token {
                Token::Word(word) => self.terms_of_word(word),
                Token::Compound(lexeme) | Token::Bigram(lexeme) | Token::Ideograph(lexeme) => {
                    self.terms_of.get(lexeme.as_str()).map_or(&[][..], Vec::as_slice)
                }
            };
            for at in terms {
                has[*at] = true;
            }
        });
        has.into_iter().filter(|has| *has).count()
    }

    fn terms_of_word(&mut self, word: &str) -> &[usize] {
        if !self.query.may_stand_for(word) {
            return &[];
        }
        if !self.read.contains_key(word) {
            let forms = self.query.forms(word.to_owned());
            let terms = forms.iter().filter_map(|form| self.terms_of.get(form.as_str())).flatten().copied();
            self.read.insert(word.to_owned(), terms.collect());
        }
        &self.read[word]
    }
}

/// A word of a question and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryWord {
    /// In bytes, without the s of a genitive.
    pub start: usize,
    pub end: usize,
    /// Its alternatives in the index.
    pub lexemes: Vec<String>,
    /// It holds sentences together and says nothing of what is looked for.
    pub is_function_word: bool,
}

/// Whether a word in lower case holds sentences together and says nothing of what they are about.
pub fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.contains(&word)
}

/// The English stem of a word in lower case.
pub fn english_stem(word: &str) -> String {
    Stemmer::create(Algorithm::English).stem(word).into_owned()
}

/// English only: a question in another language is weighed by what is common in its namespace.
const FUNCTION_WORDS: [&str; 86] = [
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by", "can",
    "could", "did", "do", "does", "doing", "for", "from", "had", "has", "have", "he", "her", "hers", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "me", "might", "my", "of", "on", "or", "our",
    "s", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "which",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "yours", "t", "don't", "didn't",
    "doesn't", "isn't",
];

#[cfg(test)]
mod tests {
    use super::tokens::LEXEME_MAX_CHARS;
    use super::*;

    fn meets(text: &str, query: &str) -> bool {
        let found = lexeme_counts(text);
        Query::new(query).terms().iter().all(|alternatives| {
            alternatives.iter().any(|lexeme| found.counts.iter().any(|(l, _)| l == lexeme))
        })
    }

    #[test]
    fn a_question_meets_text_in_other_inflections_and_languages() {
        for (text, query) in [
            ("Alice commits to the API designs.", "alice committed design"),
            (
                "Der Vorstand hat die Verträge mit den Lieferanten gestern unterschrieben und verschickt.",
                "Verträge",
            ),
            (
                "Les développeurs ont terminé la migration des bases de données pendant la nuit dernière.",
                "migration développeurs",
            ),
            ("会議は明日の午後に東京で開催されます", "東京"),
            ("Мы приняли решение перенести запуск на следующую неделю.", "решение запуск"),
        ] {
            assert!(
                meets(text, query),
                "{query} in {text}: {:?} {:?}",
                Query::new(query).terms(),
                lexeme_counts(text)
            );
        }
    }

    #[test]
    fn identifiers_are_found_as_typed_and_by_their_parts() {
        let text =
            "See ERR-4021 in /etc/app.d/main.conf (v2.1.0), getUserName and user_id at es.example.org:9200.";
        for query in
            ["ERR-4021", "/etc/app.d/main.conf", "v2.1.0", "getUserName", "user name", "user_id", "main.conf"]
        {
            assert!(meets(text, query), "{query}: {:?}", Query::new(query).terms());
        }
        let exact = Query::new("ERR-4021");
        assert!(exact.terms().contains(&vec!["err-4021".to_owned()]));
        assert!(!meets("ERR-4022", "ERR-4021"));
    }

    #[test]
    fn a_text_meets_a_question_in_other_inflections() {
        for (text, query, met) in [
            ("They were dying, the skies grey.", "die sky", 2),
            ("Die Übungen und Äpfel lagen bereit.", "Übung Apfel", 2),
            ("Nothing of the kind.", "rollback plan", 0),
            ("東京で会議", "東京", 1),
            ("Les idées étaient bonnes", "idée", 1),
        ] {
            assert_eq!(Query::new(query).reader().met_by(text), met, "{query} in {text}");
        }
    }

    #[test]
    fn the_words_of_a_question_stand_where_they_are_in_it() {
        let query = "Where is Ann's es_config.yaml, “Größe” 東京?";
        let words = Query::new(query).words();
        let texts: Vec<&str> = words.iter().map(|word| &query[word.start..word.end]).collect();
        assert_eq!(texts, ["Where", "is", "Ann", "es", "config", "yaml", "Größe", "東", "京"]);
        assert!(words[0].is_function_word && words[1].is_function_word && !words[2].is_function_word);
        assert!(words[2].lexemes.contains(&"ann".to_owned()));
    }

    #[test]
    fn counts_are_sorted_bounded_and_repeatable() {
        let counted = lexeme_counts("Tea, tea and more tea.");
        assert_eq!(counted.length, 5);
        assert!(counted.counts.contains(&("tea".into(), 3)));
        assert_eq!(counted, lexeme_counts("Tea, tea and more tea."));
        assert!(
            lexeme_counts(&"x".repeat(10_000))
                .counts
                .iter()
                .all(|(l, _)| l.chars().count() <= LEXEME_MAX_CHARS)
        );
        assert_eq!(lexeme_counts("… !!!").counts, []);
    }
}
