//! The answer of `/readyz`.

use memory_engine::readiness::NotReady;
use serde_json::json;

/// How much of the state the answer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    Full,
    /// Which part is not ready, without details for operators.
    Short,
}

/// Its status and its body, in JSON.
pub fn answer(found: &Result<(), NotReady>, detail: Detail) -> (u16, String) {
    let (status, body) = match found {
        Ok(()) => (200, json!({ "ready": true })),
        Err(lack) => {
            let reason = match detail {
                Detail::Full => lack.reason.as_str(),
                Detail::Short => lack.in_short(),
            };
            (503, json!({ "ready": false, "waiting_for": lack.part, "reason": reason }))
        }
    };
    (status, format!("{body}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_learn_which_part_is_not_ready_and_not_where_it_is() {
        let lack =
            NotReady { part: "database", reason: "the database at db.example:5432 is away".to_owned() };
        let (status, full) = answer(&Err(lack.clone()), Detail::Full);
        assert!(status == 503 && full.contains("db.example"), "{full}");
        let (status, short) = answer(&Err(lack), Detail::Short);
        assert!(status == 503 && !short.contains("db.example") && short.contains("\"database\""), "{short}");
        assert_eq!(answer(&Ok(()), Detail::Short), (200, "{\"ready\":true}\n".to_owned()));
    }
}
