-- Standing instructions and preferences of the user: statements of revisions, with the condition on which they hold.
-- quote = the characters start_char to end_char of the artifact's content, always.
create table directive (
    namespace        text     not null,
    directive_id     bigint   generated always as identity,
    revision_id      bigint   not null,
    start_char       integer  not null,
    end_char         integer  not null,
    quote            text     not null,
    condition        text,
    -- About answers as such: it bears on every question.
    is_general       boolean  not null,
    -- It allows again what was not wanted.
    is_permission    boolean  not null,
    -- It holds in its conversation only.
    in_conversation  boolean  not null,
    -- The vector of its condition, or of all of it; null until it is computed.
    model_id         smallint,
    embedding        vector,
    primary key (namespace, directive_id),
    unique (namespace, revision_id, start_char),
    foreign key (namespace, revision_id) references artifact_revision on delete cascade,
    check (start_char < end_char),
    check ((model_id is null) = (embedding is null))
);

-- A later directive that is contrary about the same thing. It counts as long as it is there and its revision is the latest.
create table directive_replacement (
    namespace  text    not null,
    earlier    bigint  not null,
    later      bigint  not null,
    primary key (namespace, earlier, later),
    foreign key (namespace, earlier) references directive on delete cascade,
    foreign key (namespace, later) references directive on delete cascade,
    check (earlier <> later)
);
create index directive_replacement_later on directive_replacement (namespace, later);
