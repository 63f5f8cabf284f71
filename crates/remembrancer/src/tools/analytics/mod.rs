//! Analytics of a thread of the knowledge graph: `list_entities`, `query_nodes`,
//! `find_relation_path`, `get_analytics` and `suggest_merges`.

mod listing;
mod overview;
mod paths;

use futures::FutureExt;

use self::listing::{ListInput, ListOutput, QueryInput, QueryOutput, list, query};
use self::overview::{AnalyticsOutput, MergesInput, MergesOutput, ThreadInput, analytics, merges};
use self::paths::{PathInput, PathOutput, path};
use super::{Declared, Registered, register};

/// How much of a name or a type is shown in figures, paths and suggestions.
const SHOWN_CHARS: usize = 500;

pub(super) fn tools() -> Vec<Registered> {
    let declared = |name, title, description| Declared {
        name,
        title,
        description,
        read_only: true,
        destructive: false,
        idempotent: true,
    };
    vec![
        register::<ListInput, ListOutput>(
            &declared(
                "list_entities",
                "List Entities",
                "List names and types of graph entities in a thread, by type or part of a name. Look here for \
                 exact names before you write relations.",
            ),
            |call, given| list(call, given).boxed(),
        ),
        register::<QueryInput, QueryOutput>(
            &declared(
                "query_nodes",
                "Query Nodes",
                "Find graph entities and their observations by time, confidence or importance. Shows observation \
                 ids, as update_observation needs them.",
            ),
            |call, given| query(call, given).boxed(),
        ),
        register::<PathInput, PathOutput>(
            &declared(
                "find_relation_path",
                "Find Relation Path",
                "Find the shortest chain of relations between two graph entities of a thread, in either direction.",
            ),
            |call, given| path(call, given).boxed(),
        ),
        register::<ThreadInput, AnalyticsOutput>(
            &declared(
                "get_analytics",
                "Get Analytics",
                "Show the state of a thread's graph: recent changes, most important, most connected and orphaned \
                 entities, 10 each.",
            ),
            |call, given| analytics(call, given).boxed(),
        ),
        register::<MergesInput, MergesOutput>(
            &declared(
                "suggest_merges",
                "Suggest Merges",
                "Suggest pairs of graph entities whose names probably mean the same. Changes nothing.",
            ),
            |call, given| merges(call, given).boxed(),
        ),
    ]
}
