-- hydration::events: events with everything about them, in the order asked for. "offset 0": see hydrate.sql.
select json_build_object(
    'id', e.event_id, 'category', e.category, 'narrative', e.narrative, 'artifact_id', e.artifact_id,
    'event_time', e.event_time, 'due_time', e.due_time, 'confidence', e.confidence,
    'ended', case when e.category = 'Commitment' then (
        select json_build_object('event_id', l.closing_id, 'kind', l.kind)
        from event_link l
        cross join lateral (select revision_id from semantic_event where namespace = $1 and event_id = l.closing_id offset 0) x
        cross join lateral (select is_latest from artifact_revision where namespace = $1 and revision_id = x.revision_id offset 0) o
        where l.namespace = $1 and l.commitment_id = e.event_id and o.is_latest
        order by l.kind = 'fulfils' desc, l.occurred_at, l.closing_id
        limit 1) end,
    'subjects', array(
        select (select coalesce((select c.name from entity c where c.namespace = $1 and c.entity_id = t.canonical_id), t.name)
             from entity t where t.namespace = $1 and t.entity_id = s.entity_id)
        from event_subject s where s.namespace = $1 and s.event_id = e.event_id order by 1),
    'actors', array(
        select json_build_object('name', (select coalesce((select c.name from entity c where c.namespace = $1 and c.entity_id = t.canonical_id), t.name)
             from entity t where t.namespace = $1 and t.entity_id = s.entity_id),
            'role', s.role)
        from event_actor s where s.namespace = $1 and s.event_id = e.event_id order by s.role, s.entity_id),
    'evidence', array(
        select json_build_object('quote', v.quote, 'start_char', v.start_char, 'end_char', v.end_char,
            'artifact_id', v.artifact_id)
        from event_evidence v where v.namespace = $1 and v.event_id = e.event_id order by v.ordinal))
from unnest($2::text[]) with ordinality u (event_id, n)
cross join lateral (select * from semantic_event where namespace = $1 and event_id = u.event_id offset 0) e
order by u.n
