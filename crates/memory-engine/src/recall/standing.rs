//! What the user wants where the question is asked, among the results: a text that says so answers as well as any other,
//! though it has no word of the question.

use memory_core::id::Namespace;
use memory_core::recall::ArtifactScore;
use memory_store::search::{self, Candidate};
use memory_store::{Conn, directives};

use super::RecallRequest;
use super::hits::found_otherwise;
use super::ranking::Ranked;
use super::search::Asked;
use crate::directives::{Bearing, QuestionRead};
use crate::{EngineError, Memory};

/// How many directives are raised among the results, and behind how many of these.
const RAISED_MAX: usize = 2;
const BEHIND: usize = 8;

impl Memory {
    /// The directives that bear on the question. Where `raises` the texts of the first of them are among what is ranked then, not
    /// far behind the best.
    pub(super) async fn page_directives(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        (request, raises): (&RecallRequest, bool),
        (query, asked): (&str, &Asked),
        ranked: &mut Vec<Ranked>,
    ) -> Result<Vec<Bearing>, EngineError> {
        let question = QuestionRead::new(query, asked.embedded.as_ref(), asked.bearing.clone(), ranked);
        let bearing = self.directives(conn, ns, request, question).await?;
        if raises && let Some(last) = ranked.get(BEHIND - 1).or(ranked.last()) {
            let score = last.score;
            for wanted in bearing.iter().filter(|bearing| bearing.is_answer).take(RAISED_MAX) {
                self.raise(conn, ns, wanted, score, ranked).await?;
            }
            // A stable sort: behind those that score as much by themselves.
            ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        }
        Ok(bearing)
    }

    async fn raise(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        wanted: &Bearing,
        score: f32,
        ranked: &mut Vec<Ranked>,
    ) -> Result<(), EngineError> {
        let raised = |artifact: ArtifactScore| artifact.raised_as_directive_to(score);
        if let Some(known) = ranked.iter_mut().find(|ranked| ranked.revision_id == wanted.revision_id) {
            known.explanation.artifact = raised(known.explanation.artifact);
            known.score = known.explanation.artifact.score;
            return Ok(());
        }
        let start = wanted.directive.span.start;
        let Some(passage) = directives::passage_at(conn, ns, wanted.revision_id, start).await? else {
            return Ok(());
        };
        let read = search::candidates(conn, ns, &[passage], None, false).await?;
        // The same text at the same place may be there by another of its passages' revisions.
        let new =
            read.iter().filter_map(|it: &Candidate| found_otherwise(it, raised(ArtifactScore::default())));
        for new in new {
            if !ranked.iter().any(|ranked| ranked.is_the_hit_of(&new)) {
                ranked.push(new);
            }
        }
        Ok(())
    }
}
