//! The migrations, in the program itself.

use std::borrow::Cow;
use std::sync::LazyLock;

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

macro_rules! migration {
    ($file:literal) => {
        ($file, include_str!(concat!("../../../migrations/", $file)))
    };
}

/// `VERSION_what_it_does.sql` and its statements. Append only: a database holds the digest of each that it has.
const FILES: [(&str, &str); 33] = [
    migration!("0001_semantic_memory.sql"),
    migration!("0002_knowledge_graph.sql"),
    migration!("0003_graph_look_ups.sql"),
    migration!("0004_retrieval.sql"),
    migration!("0005_a_language_model_that_is_away.sql"),
    migration!("0006_vector_mirror.sql"),
    migration!("0007_job_priority.sql"),
    migration!("0008_entity_resolution.sql"),
    migration!("0009_owner_events.sql"),
    migration!("0010_half_precision_index.sql"),
    migration!("0011_jobs_in_slices.sql"),
    migration!("0013_forgiving_filters.sql"),
    migration!("0014_graph_files_and_cursors.sql"),
    migration!("0016_decisions_and_word_lists.sql"),
    migration!("0017_roles_that_own_nothing.sql"),
    migration!("0019_dumps_that_can_be_restored.sql"),
    migration!("0020_keys_and_audit.sql"),
    migration!("0021_directives.sql"),
    migration!("0022_oauth.sql"),
    migration!("0023_search_changes.sql"),
    migration!("0024_lists_for_people.sql"),
    migration!("0026_push.sql"),
    migration!("0027_row_level_security.sql"),
    migration!("0028_pages_at_scale.sql"),
    migration!("0029_pages_by_count.sql"),
    migration!("0030_linked_in_memory.sql"),
    migration!("0031_a_denser_vector_index.sql"),
    migration!("0032_lines.sql"),
    migration!("0033_events_of_nobody.sql"),
    migration!("0034_told_endings.sql"),
    migration!("0035_withdrawn_wishes.sql"),
    migration!("0036_bearing_vectors.sql"),
    migration!("0037_circumstances.sql"),
];

pub(crate) static MIGRATOR: LazyLock<Migrator> = LazyLock::new(|| {
    Migrator::with_migrations(FILES.iter().filter_map(|(file, sql)| read(file, sql)).collect())
});

fn read(file: &str, sql: &'static str) -> Option<Migration> {
    let (version, name) = file.strip_suffix(".sql")?.split_once('_')?;
    let description = Cow::Owned(name.replace('_', " "));
    let kind = MigrationType::Simple;
    Some(Migration::new(version.parse().ok()?, description, kind, sql.into_sql_str(), false))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_a_migration() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        there.sort();
        assert_eq!(FILES.map(|(file, _)| file).to_vec(), there);
        assert_eq!(MIGRATOR.iter().count(), there.len());
    }
}
