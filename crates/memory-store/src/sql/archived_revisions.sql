-- archive::revisions: each with its content where it is the first of its artifact. "offset 0": see hydrate.sql.
select r.revision_id, r.superseded_by, r.is_latest, r.created_at, a.sha256, a.content,
    case when r.superseded_by < r.revision_id then (
        select count(*) from artifact_revision earlier
        where earlier.namespace = $1 and earlier.revision_id <= r.superseded_by
    ) end as earlier_successor,
    r.context, r.source, r.source_id, r.author, r.role, r.participants, r.date, r.title, r.tags, r.importance,
    r.conversation_id, r.turn_index
from artifact_revision r
cross join lateral (
    select sha256,
        case when not exists (
            select from artifact_revision earlier
            where earlier.namespace = $1 and earlier.artifact_id = r.artifact_id and earlier.revision_id < r.revision_id
        ) then content end as content
    from artifact
    where namespace = $1 and artifact_id = r.artifact_id
    offset 0
) a
where r.namespace = $1
order by r.revision_id
