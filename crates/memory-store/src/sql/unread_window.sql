-- events::unread_window: the first unread turns of a conversation, with some turns before them.
with turn as materialized (
    select r.revision_id, r.turn_index,
        (r.extracted_at is null or r.is_extraction_stale) and not exists (
            select from event_jobs j
            where j.namespace = $1 and j.revision_id = r.revision_id and j.kind = 'extract') as unread
    from artifact_revision r
    where r.namespace = $1 and r.conversation_id = $2 and r.turn_index is not null and r.is_latest
), unread as (
    select revision_id, turn_index from turn where unread order by turn_index limit $3
), bounds as (
    select min(turn_index) as first_turn, max(turn_index) as last_turn from unread
), before as (
    select t.revision_id from turn t, bounds b where t.turn_index < b.first_turn order by t.turn_index desc limit $4
)
select r.revision_id, r.artifact_id, a.content, coalesce(r.date, r.created_at) as said_at, t.unread,
    r.context, r.source, r.source_id, r.author, r.role, r.participants, r.date, r.title, r.tags,
    r.importance, r.conversation_id, r.turn_index
from turn t
cross join bounds b
join artifact_revision r on r.namespace = $1 and r.revision_id = t.revision_id
join artifact a on a.namespace = $1 and a.artifact_id = r.artifact_id
where t.turn_index between b.first_turn and b.last_turn
   or t.revision_id in (select revision_id from before)
order by r.turn_index
