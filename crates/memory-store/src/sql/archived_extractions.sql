-- archive::extractions: of each revision that was extracted, its entities and its events.
select r.revision_id, r.extractor, r.extractor_version, r.extracted_at, coalesce(r.rejected_count, 0) as rejected,
    r.is_extraction_stale or exists (
        select from event_jobs j
        where j.namespace = $1 and j.kind = 'extract' and j.revision_id = r.revision_id and j.status in ('PENDING', 'PROCESSING')
    ) as is_stale,
    (select coalesce(json_agg(json_build_object(
            'id', t.entity_id, 'name', t.name, 'entity_type', t.entity_type, 'distinguisher', t.distinguisher,
            'aliases', array(
                select a.alias from entity_alias a
                where a.namespace = $1 and a.entity_id = t.entity_id and a.revision_id = r.revision_id
                order by a.normalised collate "C"),
            'mentions', array(
                select json_build_array(m.start_char, m.end_char) from entity_mention m
                where m.namespace = $1 and m.entity_id = t.entity_id and m.revision_id = r.revision_id
                order by m.start_char, m.end_char)
        ) order by t.entity_type collate "C", t.normalised collate "C", t.distinguisher collate "C"), '[]'::json)
     from (
        select m.entity_id from entity_mention m where m.namespace = $1 and m.revision_id = r.revision_id
        union
        select a.entity_id from entity_alias a where a.namespace = $1 and a.revision_id = r.revision_id
        union
        select s.entity_id from semantic_event e
        cross join lateral (
            select entity_id from event_actor where namespace = $1 and event_id = e.event_id offset 0
        ) s
        where e.namespace = $1 and e.revision_id = r.revision_id
        union
        select s.entity_id from semantic_event e
        cross join lateral (
            select entity_id from event_subject where namespace = $1 and event_id = e.event_id offset 0
        ) s
        where e.namespace = $1 and e.revision_id = r.revision_id
     ) named
     cross join lateral (
        select * from entity where namespace = $1 and entity_id = named.entity_id offset 0
     ) t) as entities,
    (select coalesce(json_agg(json_build_object(
            'category', e.category, 'narrative', e.narrative, 'event_time', e.event_time, 'due_time', e.due_time,
            'confidence', e.confidence,
            'subject', (
                select s.entity_id from event_subject s
                where s.namespace = $1 and s.event_id = e.event_id order by s.entity_id limit 1),
            'actors', array(
                select json_build_object('id', a.entity_id, 'role', a.role) from event_actor a
                where a.namespace = $1 and a.event_id = e.event_id
                order by a.role collate "C", a.entity_id),
            'evidence', array(
                select json_build_object('revision_id', v.revision_id, 'start', v.start_char, 'end', v.end_char)
                from event_evidence v where v.namespace = $1 and v.event_id = e.event_id order by v.ordinal)
        ) order by e.ordinal), '[]'::json)
     from semantic_event e
     where e.namespace = $1 and e.revision_id = r.revision_id) as events
from artifact_revision r
where r.namespace = $1 and r.extracted_at is not null
order by r.revision_id
