-- Retrieval: states of single tokens beside the vectors, and passages of the graph's observations.

-- What an encoder made of each token of a passage, compressed; see memory-core/src/late_interaction.rs.
-- Rows are small enough to stand in the table itself, so that a hundred of them are read at once.
create table passage_tokens (
    namespace    text     not null,
    passage_id   bigint   not null,
    model_id     smallint not null references embedding_model,
    states       bytea    not null,
    primary key (namespace, passage_id, model_id),
    foreign key (namespace, passage_id) references passage on delete cascade
);
alter table passage_tokens alter column states set storage main;

-- Of a text with many passages one is always near: how many there are is weighed.
alter table artifact_revision add column passages integer not null default 1;
update artifact_revision r
set passages = (select count(*) from passage p where p.namespace = r.namespace and p.revision_id = r.revision_id);

-- A passage belongs to a revision, or is a current observation of the graph with its entity's name. Those of
-- observations are made and taken away by jobs.
alter table passage
    alter column revision_id drop not null,
    alter column artifact_id drop not null,
    add column observation bigint,
    add foreign key (namespace, observation) references graph_observation on delete cascade,
    add check ((revision_id is null) = (artifact_id is null)),
    add check ((revision_id is null) = (observation is not null));
create unique index passage_observation on passage (namespace, observation) where observation is not null;
alter table passage_embedding alter column revision_id drop not null;

alter table event_jobs
    add column thread_id bigint,
    add foreign key (namespace, thread_id) references graph_thread on delete cascade,
    drop constraint event_jobs_kind_check,
    drop constraint event_jobs_check,
    drop constraint event_jobs_check1,
    add constraint event_jobs_kind_check check (kind in ('extract', 'extract_conversation', 'embed', 'index_graph')),
    add check ((kind in ('extract', 'embed')) = (revision_id is not null)),
    add check ((kind = 'extract_conversation') = (conversation_id is not null)),
    add check ((kind = 'index_graph') = (thread_id is not null));
create unique index event_jobs_waiting_thread on event_jobs (namespace, thread_id)
    where thread_id is not null and status = 'PENDING';
create index event_jobs_thread on event_jobs (namespace, thread_id) where thread_id is not null;

-- What is embedded is now the title, the speaker and the passage, and its tokens count: vectors are made anew.
truncate passage_embedding;
insert into event_jobs (namespace, kind, revision_id)
select namespace, 'embed', revision_id from artifact_revision
on conflict do nothing;

-- Graphs that are there already.
insert into event_jobs (namespace, kind, thread_id)
select namespace, 'index_graph', thread_id from graph_thread;

-- Entities by their folded names, whatever their thread: to meet those that texts mention.
create index graph_entity_folded on graph_entity (namespace, folded_name) where length(folded_name) <= 200;
