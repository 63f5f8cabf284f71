//! The nine knowledge graph tools on the wire. They replace those of the reference memory server: their texts are
//! the bare results, and what goes beyond it is optional.

mod wire;

use futures::FutureExt;
use memory_core::graph::{EntityObservations, GraphEntity, GraphRelation, PageRequest, Weights};
use memory_engine::graph::{GraphPage, Warning, WholeGraph};
use rmcp::model::JsonObject;
use serde::Serialize;
use wire::{
    AddObservations, Added, Additions, CreateEntities, CreatedRelations, DeleteEntities, DeleteObservations,
    Deleted, Entities, Entity, Graph, OpenNodes, ReadGraph, Relation, Relations, SearchNodes, Whole,
};

use super::{Answer, Call, Declared, Refusal, Registered, arguments, register, unwritable};

pub(super) fn tools() -> Vec<Registered> {
    [writing(), deleting(), reading()].into_iter().flatten().collect()
}

fn writing() -> Vec<Registered> {
    let writes = |name, title, description| Declared {
        name,
        title,
        description,
        read_only: false,
        destructive: false,
        idempotent: false,
    };
    vec![
        register::<CreateEntities, Entities>(
            &writes(
                "create_entities",
                "Create Entities",
                "Create entities in the knowledge graph: a name, a type, and observations, which are short facts. Names \
                 that exist are left as they are; answers what was created.",
            ),
            |call, given| create_entities(call, given).boxed(),
        ),
        register::<Relations, CreatedRelations>(
            &writes(
                "create_relations",
                "Create Relations",
                "Create directed relations between entities in the knowledge graph, in active voice. Answers what was new.",
            ),
            |call, given| create_relations(call, given).boxed(),
        ),
        register::<AddObservations, Additions>(
            &writes(
                "add_observations",
                "Add Observations",
                "Add observations to existing entities in the knowledge graph. Answers what was new.",
            ),
            |call, given| add_observations(call, given).boxed(),
        ),
    ]
}

fn deleting() -> Vec<Registered> {
    let deletes = |name, title, description| Declared {
        name,
        title,
        description,
        read_only: false,
        destructive: true,
        idempotent: true,
    };
    vec![
        register::<DeleteEntities, Deleted>(
            &deletes(
                "delete_entities",
                "Delete Entities",
                "Delete entities and their relations from the knowledge graph",
            ),
            |call, given| delete_entities(call, given).boxed(),
        ),
        register::<DeleteObservations, Deleted>(
            &deletes(
                "delete_observations",
                "Delete Observations",
                "Delete observations, by their exact text, from entities in the knowledge graph",
            ),
            |call, given| delete_observations(call, given).boxed(),
        ),
        register::<Relations, Deleted>(
            &deletes("delete_relations", "Delete Relations", "Delete relations from the knowledge graph"),
            |call, given| delete_relations(call, given).boxed(),
        ),
    ]
}

fn reading() -> Vec<Registered> {
    let reads = |name, title, description| Declared {
        name,
        title,
        description,
        read_only: true,
        destructive: false,
        idempotent: true,
    };
    vec![
        register::<ReadGraph, Graph>(
            &reads("read_graph", "Read Graph", "Read the knowledge graph, page by page where it is large"),
            |call, given| read_graph(call, given).boxed(),
        ),
        register::<SearchNodes, Graph>(
            &reads(
                "search_nodes",
                "Search Nodes",
                "Find entities in the knowledge graph by a substring, with all relations from and to them",
            ),
            |call, given| search_nodes(call, given).boxed(),
        ),
        register::<OpenNodes, Graph>(
            &reads(
                "open_nodes",
                "Open Nodes",
                "Open entities in the knowledge graph by their exact names, with all relations from and to them",
            ),
            |call, given| open_nodes(call, given).boxed(),
        ),
    ]
}

async fn create_entities(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: CreateEntities = arguments("create_entities", given)?;
    let entities = input.entities.into_iter().map(GraphEntity::from).collect();
    let created = call
        .memory
        .graph()
        .create_entities(&call.namespace, &call.graph.scope(input.thread_id)?, entities)
        .await?;
    let entities = Entities { entities: created.answer.into_iter().map(Entity::from).collect() };
    spoken(&entities, &entities.entities, created.warning)
}

async fn create_relations(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: Relations = arguments("create_relations", given)?;
    let relations = input.relations.into_iter().map(GraphRelation::from).collect();
    let created = call
        .memory
        .graph()
        .create_relations(&call.namespace, &call.graph.scope(input.thread_id)?, relations)
        .await?;
    let relations = CreatedRelations { relations: created.answer.into_iter().map(Relation::from).collect() };
    spoken(&relations, &relations.relations, created.warning)
}

async fn add_observations(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: AddObservations = arguments("add_observations", given)?;
    let weights = Weights::new(input.confidence, input.importance)?;
    let additions = input.observations.into_iter().map(EntityObservations::from).collect();
    let scope = call.graph.scope(input.thread_id)?;
    let added = call.memory.graph().add_observations(&call.namespace, &scope, additions, weights).await?;
    let additions = Additions { results: added.answer.into_iter().map(Added::from).collect() };
    spoken(&additions, &additions.results, added.warning)
}

async fn delete_entities(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: DeleteEntities = arguments("delete_entities", given)?;
    let gone = call
        .memory
        .graph()
        .delete_entities(&call.namespace, &call.graph.scope(input.thread_id)?, &input.entity_names)
        .await?;
    deleted("Entities deleted successfully", gone.warning)
}

async fn delete_observations(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: DeleteObservations = arguments("delete_observations", given)?;
    let deletions: Vec<EntityObservations> =
        input.deletions.into_iter().map(EntityObservations::from).collect();
    let gone = call
        .memory
        .graph()
        .delete_observations(&call.namespace, &call.graph.scope(input.thread_id)?, &deletions)
        .await?;
    deleted("Observations deleted successfully", gone.warning)
}

async fn delete_relations(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: Relations = arguments("delete_relations", given)?;
    let relations: Vec<GraphRelation> = input.relations.into_iter().map(GraphRelation::from).collect();
    let gone = call
        .memory
        .graph()
        .delete_relations(&call.namespace, &call.graph.scope(input.thread_id)?, &relations)
        .await?;
    deleted("Relations deleted successfully", gone.warning)
}

async fn read_graph(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: ReadGraph = arguments("read_graph", given)?;
    let page = PageRequest::new(input.limit, input.cursor.as_deref(), input.detail.as_deref())?;
    let shown =
        call.memory.graph().read_graph(&call.namespace, &call.graph.scope(input.thread_id)?, page).await?;
    graph(shown, page)
}

async fn search_nodes(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: SearchNodes = arguments("search_nodes", given)?;
    let page = PageRequest::new(input.limit, input.cursor.as_deref(), input.detail.as_deref())?;
    let scope = call.graph.scope(input.thread_id)?;
    let shown = call.memory.graph().search_nodes(&call.namespace, &scope, &input.query, page).await?;
    graph(shown, page)
}

async fn open_nodes(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: OpenNodes = arguments("open_nodes", given)?;
    let page = PageRequest::new(input.limit, input.cursor.as_deref(), None)?;
    let scope = call.graph.scope(input.thread_id)?;
    let shown = call.memory.graph().open_nodes(&call.namespace, &scope, &input.names, page).await?;
    graph(shown, page)
}

/// The JSON of the first page of a graph that is too large for one component.
pub(super) fn first_page(page: GraphPage) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Graph::new(page, PageRequest::default()))
}

/// The JSON of a graph in one component.
pub(super) fn whole(graph: WholeGraph) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Whole::from(graph))
}

/// An answer whose text is the bare result.
fn spoken(
    answer: &impl Serialize,
    result: &impl Serialize,
    warning: Option<Warning>,
) -> Result<Answer, Refusal> {
    let structured = serde_json::to_value(answer).map_err(|error| unwritable(&error))?;
    let text = serde_json::to_string_pretty(result).map_err(|error| unwritable(&error))?;
    Ok(Answer { structured, text: Some(text), warning })
}

fn deleted(message: &'static str, warning: Option<Warning>) -> Result<Answer, Refusal> {
    let answer = super::answer(&Deleted { success: true, message })?;
    Ok(Answer { text: Some(message.to_owned()), warning, ..answer })
}

fn graph(mut page: GraphPage, asked: PageRequest) -> Result<Answer, Refusal> {
    let warning = page.warning.take().map(|text| Warning { text, is_unwritten: false });
    let answer = Graph::new(page, asked);
    spoken(&answer, &answer, warning)
}
