-- The one password of the installation, as an Argon2id hash: who gives it may consent to what asks for access, and log in.
create table admin_password (
    is_only boolean primary key default true check (is_only),
    hash text not null check (hash like '$argon2id$%'),
    set_at timestamptz not null default now()
);

-- Programs that may ask for consent, named by an operator or by themselves. None has a secret: what protects a code is its verifier. Programs
-- that describe themselves in a document at an address have no row.
create table oauth_client (
    client_id text primary key,
    name text not null check (char_length(name) between 1 and 64),
    redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 10),
    is_of_operator boolean not null,
    created_at timestamptz not null default now()
);

-- What was consented to. Its access tokens open as a key of that role and those namespaces does, at that resource and at no other.
create table oauth_consent (
    consent_id text primary key check (consent_id ~ '^[0-9a-f]{12}$'),
    client_id text not null,
    name text not null check (char_length(name) between 1 and 64),
    role text not null check (role in ('reader', 'writer', 'admin')),
    -- The first is the one that is meant where a request names none.
    namespaces text[] not null check (cardinality(namespaces) between 1 and 100),
    toolsets text[] not null default '{}' check (cardinality(toolsets) <= 20),
    resource text not null,
    created_at timestamptz not null default now(),
    revoked_at timestamptz,
    -- To the hour, so that it is written rarely.
    last_used_at timestamptz
);

create index oauth_consent_client on oauth_consent (client_id);

-- Codes and tokens of a consent, by the SHA-256 of their 256 random bits.
create table oauth_token (
    sha256 bytea primary key check (octet_length(sha256) = 32),
    consent_id text not null references oauth_consent on delete cascade,
    kind text not null check (kind in ('code', 'access', 'refresh')),
    expires_at timestamptz not null,
    -- A code and a refresh token are used once; one that comes again ends the consent.
    used_at timestamptz,
    -- Of a code: where it was sent, and the SHA-256 of the verifier that it needs.
    redirect_uri text,
    challenge text,
    check ((kind = 'code') = (redirect_uri is not null)),
    check ((kind = 'code') = (challenge is not null))
);

create index oauth_token_consent on oauth_token (consent_id);
create index oauth_token_expires on oauth_token (expires_at);

-- Requests for consent for which the password was given, by the SHA-256 of what the consent page sends along.
create table oauth_ticket (
    sha256 bytea primary key check (octet_length(sha256) = 32),
    request jsonb not null,
    expires_at timestamptz not null
);
