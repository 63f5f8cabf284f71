-- The mirror of vectors in Qdrant: which collections there are, and of which passages they have yet to hear. Without a
-- mirror there are no rows here, and the triggers are off.

-- Set when the first mirror is made; part of the names of collections, so that two databases can share a server.
create table vector_store (
    is_only   boolean primary key default true check (is_only),
    store_id  uuid    not null default gen_random_uuid()
);

create sequence vector_mirror_version;

-- A collection in Qdrant with the vectors of one model. «filling»: not searched yet. «retired»: to be deleted there, then here.
create table vector_mirror (
    mirror_id    smallint    primary key generated always as identity,
    model_id     smallint    references embedding_model on delete set null,
    collection   text        not null unique,
    alias        text        not null,
    dimension    integer     not null,
    state        text        not null default 'filling' check (state in ('filling', 'searched', 'retired')),
    -- Passages up to this one were queued to fill it; null when all were.
    filled_to    bigint      default 0,
    -- The highest number of a claim that a point was made by: a server that shows less has lost writes.
    last_rev     bigint      not null default 0,
    retired_at   timestamptz,
    -- When all points were last compared with Postgres; null when they are to be.
    audited_at   timestamptz,
    created_at   timestamptz not null default now(),
    check (state <> 'searched' or filled_to is null),
    check ((state = 'retired') = (retired_at is not null))
);
create unique index vector_mirror_live on vector_mirror (model_id, state) where state <> 'retired';

-- Passages whose point may be another than it should be. What it should be is read when it is made so: whatever is said
-- here twice, late or in another order ends in the same.
create table vector_outbox (
    mirror_id      smallint    not null references vector_mirror on delete cascade,
    passage_id     bigint      not null,
    namespace      text        not null,
    queued_at      timestamptz not null default now(),
    -- When it may be claimed; of one that is claimed, when its lease ends.
    due_at         timestamptz not null default now(),
    lease_token    uuid,
    attempts       integer     not null default 0,
    -- It changed again while it was claimed.
    is_changed     boolean     not null default false,
    -- An attempt may be carried out later than its answer was waited for …
    is_unclear     boolean     not null default false,
    -- … so after the one that succeeded there is another, when that can be ruled out.
    is_confirming  boolean     not null default false,
    last_error     text,
    primary key (mirror_id, passage_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
create index vector_outbox_due on vector_outbox (mirror_id, due_at, passage_id);
create index vector_outbox_namespace on vector_outbox (mirror_id, namespace, passage_id);

-- The number of a claim, kept in the points that it made: an older one never overwrites what a younger one made.
create sequence vector_outbox_rev;

-- What a point says of its passage, and a digest of all of it.
create view vector_point as
select e.model_id, e.passage_id, e.namespace, e.embedding, about.*,
       ('x' || substr(md5(vector_send(e.embedding) || convert_to(row(e.namespace, about.*)::text, 'UTF8')), 1, 15))
           ::bit(60)::bigint as digest
from passage_embedding e
cross join lateral (
    select chunk_index, observation from passage p
    where p.namespace = e.namespace and p.passage_id = e.passage_id
    offset 0
) p
left join lateral (
    select context, source, author, conversation_id, tags, importance, coalesce(date, created_at) as dated
    from artifact_revision r
    where r.namespace = e.namespace and r.revision_id = e.revision_id
    offset 0
) r on true
left join lateral (
    select array_agg(distinct ev.category order by ev.category) as categories
    from semantic_event ev
    where ev.namespace = e.namespace and ev.revision_id = e.revision_id
    offset 0
) c on true
left join lateral (
    select t.name as thread
    from graph_observation o
    join graph_thread t on t.namespace = o.namespace and t.thread_id = o.thread_id
    where o.namespace = e.namespace and o.handle = p.observation
    offset 0
) t on true
cross join lateral (
    select case when p.observation is not null then 'observation'
                when p.chunk_index is not null then 'chunk'
                else 'content' end as kind,
           e.is_latest, r.context, r.source, r.author, r.conversation_id, r.tags, r.importance,
           floor(extract(epoch from r.dated))::bigint as dated_seconds, c.categories, t.thread
    offset 0
) about
where vector_norm(e.embedding) > 0;

create function queue_vectors() returns trigger language plpgsql as $$
begin
    insert into vector_outbox (mirror_id, passage_id, namespace)
    select m.mirror_id, c.passage_id, c.namespace
    from changed c
    join vector_mirror m on m.model_id = c.model_id and m.state <> 'retired'
    order by m.mirror_id, c.passage_id
    on conflict (mirror_id, passage_id) do update
    set is_changed = vector_outbox.lease_token is not null, is_confirming = false,
        is_unclear = vector_outbox.is_unclear or vector_outbox.is_confirming,
        due_at = case when vector_outbox.lease_token is null then now() else vector_outbox.due_at end;
    return null;
end $$;

-- By the passages, not by their vectors: one that is being written is not seen yet, its passage is.
create function queue_vectors_of_revision() returns trigger language plpgsql as $$
begin
    insert into vector_outbox (mirror_id, passage_id, namespace)
    select m.mirror_id, p.passage_id, p.namespace
    from passage p
    join vector_mirror m on m.state <> 'retired'
    where p.namespace = new.namespace and p.revision_id = new.revision_id
    order by m.mirror_id, p.passage_id
    on conflict (mirror_id, passage_id) do update
    set is_changed = vector_outbox.lease_token is not null, is_confirming = false,
        is_unclear = vector_outbox.is_unclear or vector_outbox.is_confirming,
        due_at = case when vector_outbox.lease_token is null then now() else vector_outbox.due_at end;
    return null;
end $$;

create function queue_vectors_of_events() returns trigger language plpgsql as $$
begin
    -- Whoever replaces the passages of these revisions is waited for: the next statement then sees the new ones.
    perform from artifact_revision r
    where (r.namespace, r.revision_id) in (select c.namespace, c.revision_id from changed c)
    order by r.revision_id
    for share;
    insert into vector_outbox (mirror_id, passage_id, namespace)
    select m.mirror_id, p.passage_id, p.namespace
    from (select distinct c.namespace, c.revision_id from changed c) c
    join passage p on p.namespace = c.namespace and p.revision_id = c.revision_id
    join vector_mirror m on m.state <> 'retired'
    order by m.mirror_id, p.passage_id
    on conflict (mirror_id, passage_id) do update
    set is_changed = vector_outbox.lease_token is not null, is_confirming = false,
        is_unclear = vector_outbox.is_unclear or vector_outbox.is_confirming,
        due_at = case when vector_outbox.lease_token is null then now() else vector_outbox.due_at end;
    return null;
end $$;

create trigger mirror_insert after insert on passage_embedding
    referencing new table as changed for each statement execute function queue_vectors();
create trigger mirror_update after update on passage_embedding
    referencing new table as changed for each statement execute function queue_vectors();
create trigger mirror_delete after delete on passage_embedding
    referencing old table as changed for each statement execute function queue_vectors();
create trigger mirror_update after update on artifact_revision for each row
    when ((old.context, old.source, old.author, old.conversation_id, old.tags, old.importance, old.date)
          is distinct from
          (new.context, new.source, new.author, new.conversation_id, new.tags, new.importance, new.date))
    execute function queue_vectors_of_revision();
create trigger mirror_insert after insert on semantic_event
    referencing new table as changed for each statement execute function queue_vectors_of_events();
create trigger mirror_delete after delete on semantic_event
    referencing old table as changed for each statement execute function queue_vectors_of_events();

-- Switched on with the first mirror, off with the last.
alter table passage_embedding disable trigger user;
alter table artifact_revision disable trigger user;
alter table semantic_event disable trigger user;
