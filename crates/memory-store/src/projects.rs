//! Projects, as the tags of texts name them.

use sqlx::{Postgres, QueryBuilder};

/// How the tag of a project begins.
pub const PROJECT_TAG: &str = "project:";

/// Whether a tag names a project, in upper or lower case.
pub fn names_project(tag: &str) -> bool {
    tag.get(..PROJECT_TAG.len()).is_some_and(|start| start.eq_ignore_ascii_case(PROJECT_TAG))
}

/// Writes whether a text `r` has the tag of one of the projects.
pub(crate) fn push_is_of(statement: &mut QueryBuilder<Postgres>, projects: &[String]) {
    statement.push("r.folded_tags && (select folded(").push_bind(projects.to_vec()).push("::text[]))");
}

#[cfg(test)]
mod tests {
    use super::names_project;

    #[test]
    fn a_tag_that_begins_with_the_word_names_a_project() {
        assert!(names_project("project:atlas") && names_project("Project:Ätlas"));
        assert!(!names_project("projects") && !names_project("projekt:ä") && !names_project("ä"));
    }
}
