-- hydration::hydrate: passages with their revisions and events, in the order asked for.
-- "offset 0" keeps the order of the joins: from the few rows asked for, by key, to what belongs to them.
select p.revision_id, u.passage_id, r.artifact_id, r.context, r.title, r.source, r.source_id, r.author, r.role, r.participants,
    coalesce(r.date, r.created_at) as date, r.importance, r.tags, r.conversation_id, r.turn_index, r.is_latest,
    (select successor.artifact_id from artifact_revision successor
     where successor.namespace = $1 and successor.revision_id = r.superseded_by) as superseded_by,
    p.text as passage, p.start_char, p.end_char,
    p.chunk_index, c.start_char as chunk_start, c.end_char as chunk_end,
    case when $3 then (select a.content from artifact a where a.namespace = $1 and a.artifact_id = r.artifact_id) end as content,
    coalesce(events.found, '[]'::json) as events,
    case when $4 > 0 then (
        select count(*) from semantic_event e
        where e.namespace = $1 and e.revision_id = p.revision_id
            and (cardinality($5::text[]) = 0 or e.category = any($5))) else 0 end as event_count,
    r.extracted_at is null and (
        exists (select from event_jobs j
                where j.namespace = $1 and j.revision_id = r.revision_id and j.kind = 'extract'
                    and j.status in ('PENDING', 'PROCESSING'))
        or exists (select from event_jobs j
                   where j.namespace = $1 and j.conversation_id = r.conversation_id
                       and j.status in ('PENDING', 'PROCESSING'))) as is_unread
from unnest($2::bigint[]) with ordinality u (passage_id, n)
cross join lateral (select * from passage p where p.namespace = $1 and p.passage_id = u.passage_id offset 0) p
cross join lateral (select * from artifact_revision r where r.namespace = $1 and r.revision_id = p.revision_id offset 0) r
left join lateral (
    select * from chunk c
    where c.namespace = $1 and c.artifact_id = p.artifact_id and c.chunk_index = p.chunk_index
    offset 0
) c on true
left join lateral (
    select json_agg(json_build_object(
        /*event*/, /*participants*/
    ) order by e.ordinal) as found
    from (
        select * from semantic_event e
        where e.namespace = $1 and e.revision_id = p.revision_id
            and (cardinality($5::text[]) = 0 or e.category = any($5))
        order by e.confidence desc, e.ordinal
        limit $4
    ) e
) events on $4 > 0
order by u.n
