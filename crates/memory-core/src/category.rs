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
    /// The category that is meant by a name near to its own. The set is closed: what is near to none is none.
    pub fn understood(said: &str) -> Option<Self> {
        let letters: String =
            said.chars().take(40).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        let single = letters.strip_suffix('s').unwrap_or(&letters);
        let meant = match single {
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
        };
        let near = || {
            let mut all = Self::ALL.iter().copied();
            all.find(|category| strsim::levenshtein(&category.as_str().to_lowercase(), single) <= 2)
        };
        meant.or_else(near)
    }
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
}
