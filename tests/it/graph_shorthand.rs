//! A graph as tests write and read it: entities and relations in few words.

use memory_core::graph::{
    EntityObservations, GraphEntity, GraphRelation, GraphScope, PageRequest, ThreadId, Weights,
};
use memory_core::id::Namespace;
use memory_engine::graph::{GraphPage, WholeGraph};
use memory_engine::{EngineError, Memory};
use memory_tests::Fixture;

use crate::stand_ins::line_reader;

/// One thread of a fixture's database.
pub(crate) struct Graph {
    pub(crate) f: Fixture,
    pub(crate) scope: GraphScope,
}

pub(crate) fn thread(name: &str) -> GraphScope {
    GraphScope::Thread(ThreadId::new(name).expect("a thread id"))
}

pub(crate) fn entity(name: &str, entity_type: &str, observations: &[&str]) -> GraphEntity {
    GraphEntity {
        name: name.to_owned(),
        entity_type: entity_type.to_owned(),
        observations: observations.iter().map(|o| (*o).to_owned()).collect(),
    }
}

/// `A knows B`.
pub(crate) fn relation(text: &str) -> GraphRelation {
    let parts: Vec<&str> = text.split(' ').collect();
    let [from, relation_type, to] = parts[..] else { panic!("{text} is no relation") };
    GraphRelation { from: from.to_owned(), to: to.to_owned(), relation_type: relation_type.to_owned() }
}

pub(crate) fn said(relation: &GraphRelation) -> String {
    format!("{} {} {}", relation.from, relation.relation_type, relation.to)
}

pub(crate) fn about(name: &str, contents: &[&str]) -> EntityObservations {
    EntityObservations {
        entity_name: name.to_owned(),
        contents: contents.iter().map(|c| (*c).to_owned()).collect(),
    }
}

/// The names of a page's entities and its relations, in order.
pub(crate) fn shown(page: &GraphPage) -> (Vec<&str>, Vec<String>) {
    let names = page.entities.iter().map(|e| e.entity.name.as_str()).collect();
    (names, page.relations.iter().map(said).collect())
}

/// All of a graph, however large it is.
pub(crate) async fn whole(memory: &Memory, ns: &Namespace, scope: &GraphScope) -> WholeGraph {
    let whole = memory.graph().read_whole_within(ns, scope, i64::MAX as u64).await;
    whole.expect("it is read").expect("no graph is too large")
}

pub(crate) fn page(limit: i64) -> PageRequest {
    PageRequest::new(Some(limit), None, None).expect("a limit")
}

/// All pages from the first on, by a call that gives one.
pub(crate) async fn pages(
    first: PageRequest,
    mut read: impl AsyncFnMut(PageRequest) -> GraphPage,
) -> Vec<GraphPage> {
    let (mut request, mut pages) = (first, Vec::new());
    loop {
        let page = read(request).await;
        let more = page.more;
        pages.push(page);
        match more {
            Some(more) => request.cursor = Some(more.cursor),
            None => return pages,
        }
    }
}

impl Graph {
    pub(crate) async fn new() -> Self {
        Self { f: Fixture::without_model(line_reader()).await, scope: GraphScope::default() }
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.f.memory
    }

    pub(crate) fn ns(&self) -> &Namespace {
        &self.f.ns
    }

    /// Entities without observations.
    pub(crate) async fn have(&self, names: &[&str]) {
        self.create(names.iter().map(|name| entity(name, "thing", &[])).collect()).await;
    }

    pub(crate) async fn create(&self, entities: Vec<GraphEntity>) -> Vec<GraphEntity> {
        let created = self.memory().graph().create_entities(self.ns(), &self.scope, entities).await;
        created.expect("they are created").answer
    }

    pub(crate) async fn relate(&self, relations: &[&str]) -> Vec<String> {
        let relations = relations.iter().map(|text| relation(text)).collect();
        let created = self.memory().graph().create_relations(self.ns(), &self.scope, relations).await;
        created.expect("they are created").answer.iter().map(said).collect()
    }

    pub(crate) async fn try_add(
        &self,
        additions: Vec<EntityObservations>,
    ) -> Result<Vec<EntityObservations>, EngineError> {
        let added = self
            .memory()
            .graph()
            .add_observations(self.ns(), &self.scope, additions, Weights::default())
            .await?;
        Ok(added.answer)
    }

    pub(crate) async fn add(&self, name: &str, contents: &[&str]) -> Vec<String> {
        let mut added = self.try_add(vec![about(name, contents)]).await.expect("they are added");
        assert_eq!((added.len(), added[0].entity_name.as_str()), (1, name));
        added.remove(0).contents
    }

    pub(crate) async fn delete(&self, names: &[&str]) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.memory()
            .graph()
            .delete_entities(self.ns(), &self.scope, &names)
            .await
            .expect("they are deleted");
    }

    pub(crate) async fn unsay(&self, name: &str, contents: &[&str]) {
        let deletions = [about(name, contents)];
        self.memory()
            .graph()
            .delete_observations(self.ns(), &self.scope, &deletions)
            .await
            .expect("they are deleted");
    }

    pub(crate) async fn part(&self, relations: &[&str]) {
        let relations: Vec<GraphRelation> = relations.iter().map(|text| relation(text)).collect();
        self.memory()
            .graph()
            .delete_relations(self.ns(), &self.scope, &relations)
            .await
            .expect("they are deleted");
    }

    pub(crate) async fn read(&self, request: PageRequest) -> GraphPage {
        self.memory().graph().read_graph(self.ns(), &self.scope, request).await.expect("it is read")
    }

    pub(crate) async fn search_page(&self, query: &str, request: PageRequest) -> GraphPage {
        self.memory()
            .graph()
            .search_nodes(self.ns(), &self.scope, query, request)
            .await
            .expect("it is searched")
    }

    pub(crate) async fn search(&self, query: &str) -> GraphPage {
        self.search_page(query, PageRequest::default()).await
    }

    /// The names of all entities that a search finds.
    pub(crate) async fn found(&self, query: &str) -> Vec<String> {
        let pages =
            pages(PageRequest::default(), async |request| self.search_page(query, request).await).await;
        pages.iter().flat_map(|page| &page.entities).map(|e| e.entity.name.clone()).collect()
    }

    pub(crate) async fn open(&self, names: &[&str]) -> GraphPage {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let opened =
            self.memory().graph().open_nodes(self.ns(), &self.scope, &names, PageRequest::default()).await;
        opened.expect("they are opened")
    }

    pub(crate) async fn whole(&self) -> WholeGraph {
        whole(self.memory(), self.ns(), &self.scope).await
    }

    /// The observations of an entity.
    pub(crate) async fn observations(&self, name: &str) -> Vec<String> {
        let mut opened = self.open(&[name]).await.entities;
        assert_eq!(opened.len(), 1, "{name} is not there");
        opened.remove(0).entity.observations
    }
}
