-- Decisions about entities that came with an archive and whose entities are not there yet: an extraction that makes the second
-- of the two carries them out. Those that were carried out stand in entity and entity_candidate.
create table entity_decision (
    namespace          text     not null,
    decision_id        bigint   generated always as identity,
    kind               text     not null check (kind in ('merged', 'rejected')),
    -- Of a merge the one that counts as the other: type, name, distinguisher and addresses.
    first_terms        jsonb    not null,
    second_terms       jsonb    not null,
    -- Which pair it is, whichever comes first.
    pair_key           uuid     not null,
    -- Names and addresses of both, by which it is found.
    signs              text[]   not null,
    were_rejected      boolean  not null default false,
    -- Revisions that name them; when all of these are forgotten, so is what is said here.
    first_revisions    bigint[] not null,
    second_revisions   bigint[] not null,
    primary key (namespace, decision_id),
    unique (namespace, pair_key)
);
create index entity_decision_signs on entity_decision using gin (namespace, signs);

-- The words of passages wait in a list that searches read too, and come into the index together: a long text was stored at a fraction
-- of the speed as long as each word of each passage was looked up by itself. How long the list may be is said by whoever writes.
alter index passage_lex set (fastupdate = on);
