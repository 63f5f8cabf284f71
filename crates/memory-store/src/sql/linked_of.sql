-- search::linked: the same of some revisions ($2), with the entities of these, and of some entities ($3). "offset 0": see hydrate.sql.
with event as materialized (
    select e.revision_id, e.event_id, r.is_latest
    from unnest($2::bigint[]) s (revision_id)
    cross join lateral (select revision_id, event_id from semantic_event where namespace = $1 and revision_id = s.revision_id offset 0) e
    cross join lateral (select is_latest from artifact_revision where namespace = $1 and revision_id = s.revision_id offset 0) r
), link as materialized (
    select a.*
    from event t
    cross join lateral (
        select entity_id, event_id, true as as_actor, occurred_at from event_actor where namespace = $1 and event_id = t.event_id
        union all
        select entity_id, event_id, false, occurred_at from event_subject where namespace = $1 and event_id = t.event_id
        offset 0
    ) a
), mention as materialized (
    select m.*
    from unnest($2::bigint[]) s (revision_id)
    cross join lateral (select revision_id, entity_id from entity_mention where namespace = $1 and revision_id = s.revision_id offset 0) m
), name as materialized (
    select a.*
    from unnest($2::bigint[]) s (revision_id)
    cross join lateral (
        select revision_id, entity_id, alias, normalised from entity_alias where namespace = $1 and revision_id = s.revision_id offset 0
    ) a
), touched as materialized (
    select entity_id from link union select entity_id from mention union select entity_id from name union select unnest($3::bigint[])
)
select 1 as kind, revision_id as one, null::bigint as other, is_latest as is_so, null::timestamptz as at,
       event_id as first, null::text as second, null::text as third, null::real as score
from event
union all
select 2, entity_id, null, as_actor, occurred_at, event_id, null, null, null from link
union all
select 3, revision_id, entity_id, null, null, null, null, null, null from mention
union all
select 4, revision_id, entity_id, null, null, alias, normalised, null, null from name
union all
select 5, t.entity_id, t.canonical_id, null, null, t.name, t.normalised, t.entity_type, null
from touched
cross join lateral (select * from entity where namespace = $1 and entity_id = touched.entity_id offset 0) t
union all
select 6, c.low_id, c.high_id, null, null, null, null, null, c.score
from unnest($3::bigint[]) s (entity_id)
cross join lateral (
    select low_id, high_id, score, state from entity_candidate where namespace = $1 and low_id = s.entity_id
    union all
    select low_id, high_id, score, state from entity_candidate where namespace = $1 and high_id = s.entity_id
    offset 0
) c
where c.state = 'open'
