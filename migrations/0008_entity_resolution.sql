-- Who is who: entities that bear one name, entities that may be one, and what ends a promise.

-- Several entities may bear one name: the first has no distinguisher, those that are known by another e-mail address
-- have that address, and `?` is for those of whom the texts do not say which of the others they are.
-- Of entities that are the same one is told of: canonical_id, the end of the chain of merged_into. What refers to the
-- others goes on referring to them, so that they can be told apart again.
alter table entity
    add column distinguisher text not null default '',
    add column merged_into bigint,
    add column canonical_id bigint,
    drop constraint entity_namespace_entity_type_normalised_key,
    add constraint entity_name unique (namespace, entity_type, normalised, distinguisher),
    add foreign key (namespace, merged_into) references entity,
    add foreign key (namespace, canonical_id) references entity,
    add check ((merged_into is null) = (canonical_id is null)),
    add check (merged_into <> entity_id and canonical_id <> entity_id);
create index entity_merged_into on entity (namespace, merged_into) where merged_into is not null;
create index entity_canonical on entity (namespace, canonical_id) where canonical_id is not null;

-- Whether an entity has an address is asked of entities that thousands of texts name.
create index entity_alias_address on entity_alias (namespace, entity_id, normalised) where position('@' in normalised) > 1;

-- Who goes by a name is asked of names that thousands of texts tell: the next holder is found without reading all of them.
drop index entity_alias_name;
create index entity_alias_name on entity_alias (namespace, normalised, entity_id);

-- What names that may mean the same have in common; see memory-core/src/entity/keys.rs.
create table entity_key (
    namespace    text   not null,
    entity_type  text   not null,
    key          text   not null,
    entity_id    bigint not null,
    primary key (namespace, entity_type, key, entity_id),
    foreign key (namespace, entity_id) references entity on delete cascade
);
create index entity_key_entity on entity_key (namespace, entity_id);

-- The entities that are there already.
insert into entity_key (namespace, entity_type, key, entity_id)
select distinct t.namespace, t.entity_type, k.key, t.entity_id
from (select namespace, entity_type, entity_id, normalised,
             array(select regexp_replace(word, '[^[:alnum:]]', '', 'g')
                   from regexp_split_to_table(normalised, '\s+') with ordinality w (word, n)
                   where word ~ '[[:alnum:]]' order by n) as words
      from entity) t
cross join lateral (
    select 'w:' || t.words[1] where t.entity_type = 'person'
    union all
    select 'w:' || t.words[cardinality(t.words)] where t.entity_type = 'person'
    union all
    select 'i:' || (select string_agg(left(word, 1), '' order by n) from unnest(t.words) with ordinality w (word, n))
    where cardinality(t.words) between case when t.entity_type = 'person' then 2 else 3 end and 8
    union all
    select 'h:' || t.words[1] || t.words[cardinality(t.words)] where t.entity_type = 'person' and cardinality(t.words) > 1
    union all
    select 'h:' || left(t.words[1], 1) || t.words[cardinality(t.words)] where t.entity_type = 'person' and cardinality(t.words) > 1
    union all
    select 'h:' || t.words[1] || left(t.words[cardinality(t.words)], 1) where t.entity_type = 'person' and cardinality(t.words) > 1
    union all
    select 'h:' || t.words[1] where t.entity_type = 'person' and cardinality(t.words) = 1
    union all
    select 's:' || array_to_string(t.words, '') where t.entity_type <> 'person'
    union all
    select 'p:' || left(array_to_string(t.words, ''), 5)
    where t.entity_type <> 'person' and length(array_to_string(t.words, '')) >= 6
) k (key)
where cardinality(t.words) > 0;

-- Two entities that may be one, and what a person has said about it. A pair that was merged without having been
-- doubtful before has no former state.
create table entity_candidate (
    namespace     text        not null,
    low_id        bigint      not null,
    high_id       bigint      not null,
    score         real        not null check (score between 0 and 1),
    reasons       text[]      not null,
    state         text        not null default 'open' check (state in ('open', 'merged', 'rejected')),
    former_state  text        check (former_state in ('open', 'rejected')),
    needs_review  boolean     not null generated always as (state = 'open') stored,
    created_at    timestamptz not null default now(),
    primary key (namespace, low_id, high_id),
    foreign key (namespace, low_id) references entity on delete cascade,
    foreign key (namespace, high_id) references entity on delete cascade,
    check (low_id < high_id),
    check (former_state is null or state = 'merged')
);
create index entity_candidate_high on entity_candidate (namespace, high_id);
create index entity_candidate_open on entity_candidate (namespace, score desc) where state = 'open';

-- What an event of a promise or of its end is about, as memory-core/src/commitment.rs reads it; null for what was written
-- before, which is read again when it is needed.
alter table semantic_event add column matter text[];

-- A commitment and an event that ends it; it goes with either.
create table event_link (
    namespace      text        not null,
    commitment_id  text        not null,
    closing_id     text        not null,
    kind           text        not null check (kind in ('fulfils', 'cancels')),
    score          real        not null check (score between 0 and 1),
    -- Of the closing event.
    occurred_at    timestamptz not null,
    primary key (namespace, commitment_id, closing_id),
    foreign key (namespace, commitment_id) references semantic_event on delete cascade,
    foreign key (namespace, closing_id) references semantic_event on delete cascade,
    check (commitment_id <> closing_id)
);
create index event_link_closing on event_link (namespace, closing_id);

-- The promises of a person, and what may end them, by time.
create index event_actor_promises on event_actor (namespace, entity_id, occurred_at) include (event_id)
    where role = 'owner' and category = 'Commitment';
create index event_actor_endings on event_actor (namespace, entity_id, occurred_at) include (event_id)
    where role = 'owner' and category in ('Execution', 'Change');
