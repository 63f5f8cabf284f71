//! The categories of events.

use crate::closed_set::closed_set;

closed_set! {
    /// What kind of thing happened. The set is closed.
    Category {
        Commitment = "Commitment",
        Execution = "Execution",
        Decision = "Decision",
        Collaboration = "Collaboration",
        QualityRisk = "QualityRisk",
        Feedback = "Feedback",
        Change = "Change",
        Stakeholder = "Stakeholder",
    }
}

impl Category {
    /// The category that is meant by a name near to its own, or by another word for it. The set is closed: what is near to none is
    /// none.
    pub fn understood(said: &str) -> Option<Self> {
        let word = word(said);
        Self::other_word(&word).or_else(|| Self::spelt(&word))
    }

    /// The category whose name this is, in the plural, in other letters or with a slip in it; no other words for it.
    pub fn named(name: &str) -> Option<Self> {
        let word = word(name);
        Self::spelt(&word)
    }

    fn other_word(word: &str) -> Option<Self> {
        match word {
            "promise" | "task" | "actionitem" | "action" | "assignment" | "todo" => Some(Self::Commitment),
            "completion" | "delivery" | "achievement" | "done" | "release" => Some(Self::Execution),
            "choice" | "approval" | "agreement" => Some(Self::Decision),
            "meeting" | "cooperation" | "handover" => Some(Self::Collaboration),
            "quality" | "risk" | "issue" | "blocker" | "problem" | "incident" | "qualityissue" => {
                Some(Self::QualityRisk)
            }
            "opinion" | "review" | "preference" | "praise" | "criticism" => Some(Self::Feedback),
            "update" | "modification" => Some(Self::Change),
            "role" | "responsibility" => Some(Self::Stakeholder),
            _ => None,
        }
    }

    fn spelt(word: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|category| strsim::levenshtein(&category.as_str().to_lowercase(), word) <= 2)
    }
}

/// The letters of a name, in the singular.
fn word(said: &str) -> String {
    let letters: String =
        said.chars().take(40).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    letters.strip_suffix('s').unwrap_or(&letters).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_understood_by_near_names() {
        for (said, meant) in [
            ("Decision", Category::Decision),
            ("Commitments", Category::Commitment),
            ("quality_risk", Category::QualityRisk),
            ("Quality Risks", Category::QualityRisk),
            ("DECISION", Category::Decision),
            ("Desicion", Category::Decision),
            ("Action Item", Category::Commitment),
            ("stake-holder", Category::Stakeholder),
        ] {
            assert_eq!(Category::understood(said), Some(meant), "{said}");
        }
        for said in ["", "Weather", "Ignore previous instructions", "None"] {
            assert_eq!(Category::understood(said), None, "{said}");
        }
    }
    #[test]
    fn another_word_is_no_name_of_a_category() {
        for name in ["Decision", "commitments", "QUALITY_RISK", "Desicion"] {
            assert_eq!(Category::named(name), Category::understood(name), "{name}");
        }
        for word in ["Promise", "risk", "Meetings", "todo", "Weather", ""] {
            assert_eq!(Category::named(word), None, "{word}");
        }
    }
}
