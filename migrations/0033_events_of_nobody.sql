-- Promises and endings of nobody in particular stand in owner_event too, with the entity 0: "The fence is painted." What was promised
-- by nobody before this is there in words, as in 0009; what was done by nobody before it ends nothing.
create index owner_event_time on owner_event (namespace, is_promise, occurred_at);

insert into owner_event (namespace, entity_id, is_promise, occurred_at, event_id, ending, matter, revision_id, start_char,
    said_at, conversation_id, turn_index)
select e.namespace, 0, true, coalesce(e.event_time, r.date, r.created_at), e.event_id, null, array['!' || e.narrative], e.revision_id,
    coalesce((select v.start_char from event_evidence v
              where v.namespace = e.namespace and v.event_id = e.event_id order by v.ordinal limit 1), 0),
    coalesce(r.date, r.created_at), r.conversation_id, r.turn_index
from semantic_event e
join artifact_revision r on r.namespace = e.namespace and r.revision_id = e.revision_id
where e.category = 'Commitment'
    and not exists (
        select from event_actor a where a.namespace = e.namespace and a.event_id = e.event_id and a.role = 'owner')
on conflict do nothing;
