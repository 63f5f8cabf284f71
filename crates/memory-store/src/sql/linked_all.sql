-- search::linked: what related events and entities of results are found by, one kind of row after the other.
-- 1: events, 2: whom they are of, 3: mentions, 4: names, 5: entities, 6: pairs that may be the same.
select 1 as kind, e.revision_id as one, null::bigint as other, r.is_latest as is_so, null::timestamptz as at,
       e.event_id as first, null::text as second, null::text as third, null::real as score
from semantic_event e
cross join lateral (select is_latest from artifact_revision where namespace = $1 and revision_id = e.revision_id offset 0) r
where e.namespace = $1
union all
select 2, entity_id, null, true, occurred_at, event_id, null, null, null from event_actor where namespace = $1
union all
select 2, entity_id, null, false, occurred_at, event_id, null, null, null from event_subject where namespace = $1
union all
select 3, revision_id, entity_id, null, null, null, null, null, null from entity_mention where namespace = $1
union all
select 4, revision_id, entity_id, null, null, alias, normalised, null, null from entity_alias where namespace = $1
union all
select 5, entity_id, canonical_id, null, null, name, normalised, entity_type, null from entity where namespace = $1
union all
select 6, low_id, high_id, null, null, null, null, null, score from entity_candidate where namespace = $1 and state = 'open'
