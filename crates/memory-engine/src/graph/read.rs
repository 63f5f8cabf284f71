//! Reading the graph: whole, page by page, by search, by name. Each answer is one state of the graph.

use futures::future::BoxFuture;
use memory_core::graph::{
    Bounds, GraphEntity, GraphRelation, GraphScope, PageRequest, TextKey, check_length, check_query,
};
use memory_core::id::Namespace;
use memory_store::graph::{self, Pattern, Thread};
use memory_store::{Conn, StoreError};

use super::KnowledgeGraph;
use super::page::{GraphPage, first_part, rest_of_relations};
use super::sought::Sought;
use crate::EngineError;

/// All of a graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WholeGraph {
    /// 0 when nothing was ever written.
    pub version: i64,
    pub entities: Vec<GraphEntity>,
    pub relations: Vec<GraphRelation>,
}

impl KnowledgeGraph {
    /// The whole graph; `None` where it is certainly larger than this as JSON.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn read_whole_within<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        json_bytes_max: u64,
    ) -> BoxFuture<'a, Result<Option<WholeGraph>, EngineError>> {
        Box::pin(async move {
            self.refresh_from_file(ns, scope).await?;
            self.recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin_snapshot(ns).await?;
                    let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                        return Ok(Some(WholeGraph::default()));
                    };
                    if graph::is_larger_than(&mut tx, &thread, json_bytes_max).await? {
                        return Ok(None);
                    }
                    Ok(Some(whole(&mut tx, &thread).await?))
                })
                .await
        })
    }

    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn read_graph<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        page: PageRequest,
    ) -> BoxFuture<'a, Result<GraphPage, EngineError>> {
        Box::pin(async move {
            let warning = self.refresh_with_notice(ns, scope).await?;
            let page = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin_snapshot(ns).await?;
                match graph::find_thread(&mut tx, ns, scope).await? {
                    Some(thread) => self.page(&mut tx, &thread, Sought::All, page).await,
                    None => Ok(GraphPage::default()),
                }
            });
            Ok(GraphPage { warning, ..page.await? })
        })
    }

    /// The entities whose name, type or observations contain the query, in upper or lower case, and the
    /// relations from and to them. An empty query finds all.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn search_nodes<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        query: &'a str,
        page: PageRequest,
    ) -> BoxFuture<'a, Result<GraphPage, EngineError>> {
        Box::pin(async move {
            check_query(query)?;
            let pattern = Pattern::new(query);
            let warning = self.refresh_with_notice(ns, scope).await?;
            let page = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin_snapshot(ns).await?;
                match graph::find_thread(&mut tx, ns, scope).await? {
                    Some(thread) => self.page(&mut tx, &thread, Sought::Meeting(&pattern), page).await,
                    None => Ok(GraphPage::default()),
                }
            });
            Ok(GraphPage { warning, ..page.await? })
        })
    }

    /// The entities of exactly these names, and the relations from and to them.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn open_nodes<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        names: &'a [String],
        page: PageRequest,
    ) -> BoxFuture<'a, Result<GraphPage, EngineError>> {
        Box::pin(async move {
            check_length("names", names.len())?;
            let names: Vec<TextKey> = names.iter().map(|name| TextKey::of(name)).collect();
            let warning = self.refresh_with_notice(ns, scope).await?;
            let page = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin_snapshot(ns).await?;
                let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                    return Ok(GraphPage::default());
                };
                let mut ids: Vec<i64> =
                    graph::entity_ids(&mut tx, &thread, &names).await?.into_values().collect();
                ids.sort_unstable();
                self.page(&mut tx, &thread, Sought::Listed(&ids), page).await
            });
            Ok(GraphPage { warning, ..page.await? })
        })
    }

    /// What a page may hold.
    pub(super) fn bounds(&self, limit: Option<usize>) -> Bounds {
        PageRequest { limit, ..PageRequest::default() }.bounds(self.settings.graph_page_chars)
    }

    async fn page(
        &self,
        conn: &mut Conn,
        thread: &Thread,
        sought: Sought<'_>,
        request: PageRequest,
    ) -> Result<GraphPage, EngineError> {
        let cursor = request.start(&thread.cursor_key)?;
        let bounds = self.bounds(request.limit);
        let draft = match cursor.part {
            Some(part) => rest_of_relations(conn, thread, sought, cursor, part, bounds).await?,
            None => first_part(conn, thread, sought, cursor, request, bounds).await?,
        };
        let mut page = draft.finish(cursor, bounds, &thread.cursor_key);
        if let (Sought::All, Some(more)) = (sought, &mut page.more) {
            more.total = Some(thread.entities.unsigned_abs());
        }
        Ok(page)
    }
}

async fn whole(conn: &mut Conn, thread: &Thread) -> Result<WholeGraph, StoreError> {
    let entities = graph::all_entities(conn, thread).await?;
    let relations = graph::all_relations(conn, thread).await?;
    Ok(WholeGraph { version: thread.version, entities, relations })
}
