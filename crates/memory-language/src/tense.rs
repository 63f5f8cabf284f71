//! Whether a question is of how things are, of what happened, or of how things were before.

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
const PAST: [&str; 25] = [
    "did", "didn", "was", "wasn", "were", "weren", "had", "war", "waren", "wurde", "wurden", "hatte",
    "hatten", "était", "étaient", "avait", "avaient", "fue", "fueron", "había", "habían", "era", "eran",
    "fu", "aveva",
];
const BEFORE: [&str; 32] = [
    "before",
    "previous",
    "previously",
    "former",
    "formerly",
    "original",
    "originally",
    "initial",
    "initially",
    "earlier",
    "first",
    "old",
    "once",
    "until",
    "früher",
    "vorher",
    "damals",
    "ursprünglich",
    "zuerst",
    "bisher",
    "avant",
    "auparavant",
    "autrefois",
    "initialement",
    "antes",
    "anteriormente",
    "originalmente",
    "prima",
    "precedente",
    "inizialmente",
    "history",
    "historically",
];
const USED_TO: &str = "used to";

impl Tense {
    pub fn of(question: &str) -> Self {
        let question = question.to_lowercase();
        let has =
            |list: &[&str]| question.split(|c: char| !c.is_alphanumeric()).any(|word| list.contains(&word));
        if has(&BEFORE) || question.contains(USED_TO) {
            Self::Before
        } else if has(&PAST) {
            Self::Past
        } else {
            Self::Present
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_say_of_when_a_question_is() {
        for (question, tense) in [
            ("Which database does the catalogue use?", Tense::Present),
            ("database catalogue", Tense::Present),
            ("Wer hat heute Dienst?", Tense::Present),
            ("What did we decide about the database?", Tense::Past),
            ("Wasn't the release in May?", Tense::Past),
            ("Wo waren wir im Urlaub?", Tense::Past),
            ("Which database did we use before?", Tense::Before),
            ("Where did the key use to be before Moira had it?", Tense::Before),
            ("what we used to pay", Tense::Before),
            ("¿Qué usábamos antes?", Tense::Before),
        ] {
            assert_eq!(Tense::of(question), tense, "{question}");
        }
    }
}
