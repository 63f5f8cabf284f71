-- events::entities_of_revisions: the entities that mentions, names or events of the revisions refer to, events that
-- rest on a quote of them included.
with event as materialized (
    select event_id from semantic_event where namespace = $1 and revision_id = any($2)
    union
    select event_id from event_evidence where namespace = $1 and revision_id = any($2)
)
select a.entity_id from event t join event_actor a on a.namespace = $1 and a.event_id = t.event_id
union
select a.entity_id from event t join event_subject a on a.namespace = $1 and a.event_id = t.event_id
union
select entity_id from entity_mention where namespace = $1 and revision_id = any($2)
union
select entity_id from entity_alias where namespace = $1 and revision_id = any($2)
