-- event_view: an event `e` as pairs for json_build_object.
'id', e.event_id, 'category', e.category, 'narrative', e.narrative, 'artifact_id', e.artifact_id,
'event_time', e.event_time, 'due_time', e.due_time, 'confidence', e.confidence,
'ended', case when e.category = 'Commitment' then (
    select json_build_object('by', l.closing_id, 'kind', l.kind)
    from commitment_ending l
    cross join lateral (select is_latest from artifact_revision where namespace = $1 and revision_id = l.closing_revision offset 0) o
    where l.namespace = $1 and l.commitment_id = e.event_id and o.is_latest
    order by l.kind = 'fulfils' desc, l.occurred_at, l.closing_id
    limit 1) end,
'evidence', array(
    select json_build_object('quote', v.quote, 'start_char', v.start_char, 'end_char', v.end_char,
        'artifact_id', v.artifact_id)
    from event_evidence v where v.namespace = $1 and v.event_id = e.event_id order by v.ordinal)
