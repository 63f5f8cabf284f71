-- Keys that requests over HTTP and hosts over stdio bring. Of the secret only its SHA-256 is here, which is enough for 256 random bits. A key
-- that was revoked or has expired stays until it is deleted: where there is any, nobody comes in without one.
create table access_key (
    key_id text primary key check (key_id ~ '^[0-9a-f]{12}$'),
    secret_sha256 bytea not null check (octet_length(secret_sha256) = 32),
    -- What came before a rotation, for as long as it still opens.
    old_sha256 bytea check (octet_length(old_sha256) = 32),
    old_until timestamptz,
    name text not null check (char_length(name) between 1 and 64),
    role text not null check (role in ('reader', 'writer', 'admin')),
    -- The first is the one that is meant where a request names none.
    namespaces text[] not null check (cardinality(namespaces) between 1 and 100),
    -- None: all that the server offers.
    toolsets text[] not null default '{}' check (cardinality(toolsets) <= 20),
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    -- To the hour, so that it is written rarely.
    last_used_at timestamptz,
    check ((old_sha256 is null) = (old_until is null))
);

-- An operator names a key by its name; that of a revoked one is free again.
create unique index access_key_name on access_key (name) where revoked_at is null;

-- Who did what, when, on which ids, and how it ended; nothing of what was remembered or asked. Names are copied: an entry outlives its key.
create table audit_entry (
    audit_id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    -- None: the token of the installation, or the operator.
    key_id text,
    who text not null,
    -- None where a command was about no namespace.
    namespace text,
    action text not null,
    ids text[] not null default '{}',
    outcome text not null
);

create index audit_entry_at on audit_entry (at);
create index audit_entry_key on audit_entry (key_id, audit_id);
create index audit_entry_ids on audit_entry using gin (ids);
