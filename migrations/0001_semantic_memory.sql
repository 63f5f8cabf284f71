-- The semantic memory. Every table is keyed by namespace first; nothing refers across namespaces.
-- Needs PostgreSQL 15 or later with pgvector 0.8 or later.

create extension if not exists vector;

-- A content, once a namespace.
create table artifact (
    namespace    text        not null,
    artifact_id  text        not null,
    sha256       bytea       not null check (octet_length(sha256) = 32),
    content      text        not null,
    char_count   integer     not null,
    token_count  integer     not null,
    created_at   timestamptz not null default now(),
    primary key (namespace, artifact_id),
    unique (namespace, sha256)
);

-- A content at a place and time. A place (artifact_uid) has one latest revision.
create table artifact_revision (
    namespace         text        not null,
    revision_id       bigint      generated always as identity,
    artifact_id       text        not null,
    artifact_uid      text        not null,
    is_latest         boolean     not null default true,
    superseded_by     bigint,
    context           text        not null,
    source            text,
    source_id         text,
    author            text,
    role              text        check (role in ('user', 'assistant', 'system')),
    participants      text[]      not null default '{}',
    date              timestamptz,
    title             text,
    tags              text[]      not null default '{}',
    importance        real        not null check (importance between 0 and 1),
    conversation_id   text,
    turn_index        integer     check (turn_index >= 0),
    summary           text        not null,
    created_at        timestamptz not null default now(),
    -- Raised whenever the rendering of its passages changes; a vector made from an older one is not stored.
    rendering         integer     not null default 0,
    -- Extraction state; all null until the first extraction has finished.
    extractor         text,
    extractor_version integer,
    extracted_at      timestamptz,
    event_count       integer,
    rejected_count    integer,
    primary key (namespace, revision_id),
    foreign key (namespace, artifact_id) references artifact on delete cascade,
    foreign key (namespace, superseded_by) references artifact_revision on delete set null (superseded_by),
    check (turn_index is null or conversation_id is not null),
    check ((extracted_at is null) = (extractor is null))
);
create unique index artifact_revision_latest on artifact_revision (namespace, artifact_uid) where is_latest;
create index artifact_revision_artifact on artifact_revision (namespace, artifact_id);
create index artifact_revision_successor on artifact_revision (namespace, superseded_by) where superseded_by is not null;
create index artifact_revision_turn on artifact_revision (namespace, conversation_id, turn_index)
    where is_latest and turn_index is not null;

-- How a long content is divided; a content under 900 tokens has none.
create table chunk (
    namespace    text    not null,
    artifact_id  text    not null,
    chunk_index  integer not null,
    start_char   integer not null,
    end_char     integer not null,
    token_count  integer not null,
    primary key (namespace, artifact_id, chunk_index),
    foreign key (namespace, artifact_id) references artifact on delete cascade,
    check (start_char < end_char)
);

-- What is searched: a piece of a revision that fits an embedding model. `lex` holds the lexemes of the
-- rendered passage, each led by a key of the namespace, so that one namespace's words never slow another's.
create table passage (
    namespace    text     not null,
    passage_id   bigint   generated always as identity,
    revision_id  bigint   not null,
    artifact_id  text     not null,
    ordinal      integer  not null,
    chunk_index  integer,
    start_char   integer  not null,
    end_char     integer  not null,
    text         text     not null,
    lex          tsvector not null,
    lex_length   integer  not null,
    is_latest    boolean  not null,
    primary key (namespace, passage_id),
    unique (namespace, revision_id, ordinal),
    foreign key (namespace, revision_id) references artifact_revision on delete cascade,
    check (start_char < end_char)
);
alter table passage alter column lex set storage main;
create index passage_lex on passage using gin (lex) with (fastupdate = off);

-- The models whose vectors are stored; exactly one is searched.
create table embedding_model (
    model_id   smallint primary key generated always as identity,
    name       text     not null unique,
    dimension  integer  not null check (dimension between 1 and 2000),
    is_active  boolean  not null default false
);
create unique index embedding_model_active on embedding_model (is_active) where is_active;

-- Each model has a partial HNSW cosine index of its own, made when the model is registered.
create table passage_embedding (
    namespace    text     not null,
    passage_id   bigint   not null,
    model_id     smallint not null references embedding_model,
    revision_id  bigint   not null,
    is_latest    boolean  not null,
    embedding    vector   not null,
    primary key (namespace, passage_id, model_id),
    foreign key (namespace, passage_id) references passage on delete cascade
);
create index passage_embedding_revision on passage_embedding (namespace, revision_id);

-- Background work. A PROCESSING job is leased: who holds the token may finish it, until leased_until.
create table event_jobs (
    namespace       text        not null,
    job_id          bigint      generated always as identity,
    kind            text        not null check (kind in ('extract', 'extract_conversation', 'embed')),
    revision_id     bigint,
    conversation_id text,
    status          text        not null default 'PENDING' check (status in ('PENDING', 'PROCESSING', 'DONE', 'FAILED')),
    attempts        integer     not null default 0,
    run_at          timestamptz not null default now(),
    lease_token     uuid,
    leased_until    timestamptz,
    last_error_code text        check (last_error_code in ('LLM_TIMEOUT', 'LLM_RATE_LIMITED', 'LLM_BAD_OUTPUT', 'LLM_REFUSED',
        'LLM_AUTH', 'EMBEDDING_UNAVAILABLE', 'SOURCE_MISSING', 'WORKER_LOST', 'CANCELLED', 'INTERNAL')),
    created_at      timestamptz not null default now(),
    finished_at     timestamptz,
    primary key (namespace, job_id),
    foreign key (namespace, revision_id) references artifact_revision on delete cascade,
    check ((kind = 'extract_conversation') = (revision_id is null)),
    check ((kind = 'extract_conversation') = (conversation_id is not null)),
    check ((status = 'PROCESSING') = (lease_token is not null)),
    check ((status = 'PROCESSING') = (leased_until is not null)),
    check ((status in ('DONE', 'FAILED')) = (finished_at is not null)),
    check (status <> 'FAILED' or last_error_code is not null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
create unique index event_jobs_open_revision on event_jobs (namespace, kind, revision_id)
    where revision_id is not null and status in ('PENDING', 'PROCESSING');
create unique index event_jobs_waiting_conversation on event_jobs (namespace, conversation_id)
    where conversation_id is not null and status = 'PENDING';
create index event_jobs_due on event_jobs (namespace, run_at, job_id) where status = 'PENDING';
create index event_jobs_leased on event_jobs (leased_until) where status = 'PROCESSING';
create index event_jobs_revision on event_jobs (namespace, revision_id);

create table event_worker (
    worker_id   uuid        primary key,
    started_at  timestamptz not null default now(),
    last_seen   timestamptz not null default now()
);

create table semantic_event (
    namespace          text        not null,
    event_id           text        not null,
    revision_id        bigint      not null,
    artifact_id        text        not null,
    ordinal            integer     not null,
    category           text        not null check (category in ('Commitment', 'Execution', 'Decision', 'Collaboration',
        'QualityRisk', 'Feedback', 'Change', 'Stakeholder')),
    narrative          text        not null,
    event_time         timestamptz,
    due_time           timestamptz,
    confidence         real        not null check (confidence between 0 and 1),
    extractor          text        not null,
    extractor_version  integer     not null,
    created_at         timestamptz not null default now(),
    primary key (namespace, event_id),
    foreign key (namespace, revision_id) references artifact_revision on delete cascade
);
create index semantic_event_revision on semantic_event (namespace, revision_id);

-- quote = the characters start_char to end_char of the artifact's content, always.
create table event_evidence (
    namespace    text    not null,
    event_id     text    not null,
    ordinal      integer not null,
    revision_id  bigint  not null,
    artifact_id  text    not null,
    start_char   integer not null,
    end_char     integer not null,
    quote        text    not null,
    primary key (namespace, event_id, ordinal),
    foreign key (namespace, event_id) references semantic_event on delete cascade,
    foreign key (namespace, revision_id) references artifact_revision on delete cascade,
    check (start_char < end_char)
);
create index event_evidence_revision on event_evidence (namespace, revision_id);

create table entity (
    namespace    text   not null,
    entity_id    bigint generated always as identity,
    name         text   not null,
    normalised   text   not null,
    entity_type  text   not null check (entity_type in ('person', 'org', 'project', 'object', 'place', 'other')),
    created_at   timestamptz not null default now(),
    primary key (namespace, entity_id),
    unique (namespace, entity_type, normalised)
);

-- A name of an entity, its own included, with the revision that says so: it goes when that revision goes.
create table entity_alias (
    namespace    text   not null,
    entity_id    bigint not null,
    alias        text   not null,
    normalised   text   not null,
    revision_id  bigint not null,
    primary key (namespace, entity_id, normalised, revision_id),
    foreign key (namespace, entity_id) references entity on delete cascade,
    foreign key (namespace, revision_id) references artifact_revision on delete cascade
);
create index entity_alias_name on entity_alias (namespace, normalised);
create index entity_alias_revision on entity_alias (namespace, revision_id);

create table entity_mention (
    namespace    text    not null,
    entity_id    bigint  not null,
    revision_id  bigint  not null,
    start_char   integer not null,
    end_char     integer not null,
    artifact_id  text    not null,
    surface      text    not null,
    primary key (namespace, entity_id, revision_id, start_char, end_char),
    foreign key (namespace, entity_id) references entity,
    foreign key (namespace, revision_id) references artifact_revision on delete cascade
);
create index entity_mention_revision on entity_mention (namespace, revision_id);

-- The two link tables are narrow and ordered newest first, so that a hub with thousands of events costs
-- no more than the few that are looked at. `occurred_at` is the event's time, else its revision's.
create table event_actor (
    namespace    text        not null,
    entity_id    bigint      not null,
    event_id     text        not null,
    role         text        not null check (role in ('owner', 'contributor', 'reviewer', 'stakeholder', 'other')),
    category     text        not null,
    occurred_at  timestamptz not null,
    primary key (namespace, event_id, entity_id),
    foreign key (namespace, entity_id) references entity,
    foreign key (namespace, event_id) references semantic_event on delete cascade
);
create index event_actor_newest on event_actor (namespace, entity_id, occurred_at desc, event_id) include (category);

create table event_subject (
    namespace    text        not null,
    entity_id    bigint      not null,
    event_id     text        not null,
    category     text        not null,
    occurred_at  timestamptz not null,
    primary key (namespace, event_id, entity_id),
    foreign key (namespace, entity_id) references entity,
    foreign key (namespace, event_id) references semantic_event on delete cascade
);
create index event_subject_newest on event_subject (namespace, entity_id, occurred_at desc, event_id) include (category);
