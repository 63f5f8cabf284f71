-- Push: what has happened in a namespace, for programs that are told of it: by webhooks, or by a stream over HTTP. Entries are written by
-- triggers, in the transaction that changes something, and only where somebody reads them. They hold ids: what else is shown is read when it
-- is sent, and goes when it is forgotten.

-- Namespaces that somebody reads the feed of. Each numbers its entries itself, so that numbers tell nothing of other namespaces.
create table feed_namespace (
    namespace    text         primary key,
    -- What was overdue before is not reported.
    since        timestamptz  not null default now(),
    -- When a stream was last read, to the hour.
    streamed_at  timestamptz,
    last_seq     bigint       not null default 0,
    -- Entries up to this one were deleted.
    dropped_to   bigint       not null default 0
);

-- An entry is numbered after its commit, by one process at a time: who has read up to a number has missed none below it.
create table feed_entry (
    namespace    text         not null,
    entry_id     bigint       generated always as identity,
    seq          bigint,
    message_id   text         not null default 'msg_' || replace(gen_random_uuid()::text, '-', ''),
    kind         text         not null,
    at           timestamptz  not null default now(),
    revision_id  bigint,
    event_id     text,
    job_id       bigint,
    details      jsonb        not null default '{}',
    primary key (namespace, entry_id),
    foreign key (namespace, revision_id) references artifact_revision on delete cascade
);
create unique index feed_entry_seq on feed_entry (namespace, seq) where seq is not null;
create index feed_entry_unnumbered on feed_entry (entry_id) where seq is null;
create index feed_entry_revision on feed_entry (namespace, revision_id) where revision_id is not null;
create index feed_entry_at on feed_entry (at);

-- Which commitments were reported as due or overdue at which time, so that each is reported once.
create table feed_reminder (
    namespace  text         not null,
    event_id   text         not null,
    kind       text         not null,
    due_time   timestamptz  not null,
    primary key (namespace, event_id, kind, due_time)
);
create index semantic_event_due on semantic_event (namespace, due_time) where category = 'Commitment' and due_time is not null;

-- Who is sent what. The secret signs, so it is kept as it is.
create table webhook (
    namespace       text         not null,
    webhook_id      text         not null check (webhook_id ~ '^hook_[0-9a-f]{12}$'),
    url             text         not null check (char_length(url) <= 2000),
    -- None: all.
    kinds           text[]       not null default '{}',
    secret          bytea        not null check (octet_length(secret) between 24 and 64),
    may_be_private  boolean      not null,
    created_at      timestamptz  not null default now(),
    -- Failures since it last took something, and until when it is left alone.
    failures        integer      not null default 0,
    failing_since   timestamptz,
    rest_until      timestamptz,
    primary key (namespace, webhook_id)
);

create table webhook_delivery (
    namespace     text         not null,
    delivery_id   bigint       generated always as identity,
    webhook_id    text         not null,
    entry_id      bigint       not null,
    state         text         not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
    attempts      integer      not null default 0,
    due_at        timestamptz  not null default now(),
    lease_token   uuid,
    leased_until  timestamptz,
    -- How the last attempt ended.
    status        integer,
    error         text,
    created_at    timestamptz  not null default now(),
    ended_at      timestamptz,
    primary key (namespace, delivery_id),
    unique (namespace, webhook_id, entry_id),
    foreign key (namespace, webhook_id) references webhook on delete cascade,
    foreign key (namespace, entry_id) references feed_entry on delete cascade,
    check ((lease_token is null) = (leased_until is null)),
    check ((state = 'pending') = (ended_at is null))
) with (fillfactor = 70);
create index webhook_delivery_due on webhook_delivery (namespace, webhook_id, due_at, delivery_id) where state = 'pending';
create index webhook_delivery_entry on webhook_delivery (namespace, entry_id);

create function feed_texts() returns trigger language plpgsql as $$
begin
    insert into feed_entry (namespace, kind, revision_id)
    select c.namespace, 'text.remembered', c.revision_id
    from changed c
    where c.is_latest and exists (select from feed_namespace f where f.namespace = c.namespace)
    order by c.revision_id;
    return null;
end $$;

create function feed_superseded_text() returns trigger language plpgsql as $$
begin
    insert into feed_entry (namespace, kind, revision_id, details)
    select new.namespace, 'text.superseded', new.revision_id, jsonb_build_object('superseded_by', r.artifact_id)
    from artifact_revision r
    where r.namespace = new.namespace and r.revision_id = new.superseded_by
      and exists (select from feed_namespace f where f.namespace = new.namespace);
    return null;
end $$;

create function feed_events() returns trigger language plpgsql as $$
begin
    insert into feed_entry (namespace, kind, revision_id, event_id, details)
    select c.namespace, 'event.extracted', c.revision_id, c.event_id,
        jsonb_build_object('category', c.category, 'event_time', c.event_time, 'due_time', c.due_time)
    from changed c
    where exists (select from feed_namespace f where f.namespace = c.namespace)
    order by c.revision_id, c.ordinal;
    return null;
end $$;

-- A version of an observation comes after the one that it replaces.
create function feed_superseded_fact() returns trigger language plpgsql as $$
begin
    insert into feed_entry (namespace, kind, details)
    select new.namespace, 'fact.superseded', jsonb_build_object(
        'thread', t.name,
        'observation_id', 'obs_' || lpad(to_hex(o.handle), 16, '0'),
        'superseded_by', 'obs_' || lpad(to_hex(new.handle), 16, '0'))
    from graph_thread t, graph_observation o
    where t.namespace = new.namespace and t.thread_id = new.thread_id
      and o.namespace = new.namespace and o.thread_id = new.thread_id and o.entity_id = new.entity_id
      and o.chain_id = new.chain_id and o.version = new.version - 1
      and exists (select from feed_namespace f where f.namespace = new.namespace);
    return null;
end $$;

-- Without a reference to the revision: who ends a job holds its row, and would wait for who forgets the text and waits for that row.
create function feed_failed_job() returns trigger language plpgsql as $$
begin
    insert into feed_entry (namespace, kind, job_id, details)
    select new.namespace, 'job.failed', new.job_id, jsonb_build_object(
        'kind', new.kind, 'code', new.last_error_code, 'conversation_id', new.conversation_id,
        'artifact_id', (select r.artifact_id from artifact_revision r
                        where r.namespace = new.namespace and r.revision_id = new.revision_id))
    where exists (select from feed_namespace f where f.namespace = new.namespace);
    return null;
end $$;

create trigger feed_insert after insert on artifact_revision
    referencing new table as changed for each statement execute function feed_texts();
create trigger feed_update after update on artifact_revision for each row
    when (new.superseded_by is not null and old.superseded_by is distinct from new.superseded_by)
    execute function feed_superseded_text();
create trigger feed_insert after insert on semantic_event
    referencing new table as changed for each statement execute function feed_events();
create trigger feed_insert after insert on graph_observation for each row
    when (new.version > 1 and new.is_current) execute function feed_superseded_fact();
create trigger feed_update after update on event_jobs for each row
    when (new.status = 'FAILED' and old.status <> 'FAILED' and new.last_error_code <> 'CANCELLED')
    execute function feed_failed_job();
