-- lifecycle::unlink_split: links of the promises of $2, and of entities merged into these, whose owners are not one entity. Links
-- with what others, or nobody, did stay.
with member as materialized (
    select entity_id from entity where namespace = $1 and (entity_id = any($2) or canonical_id = any($2))
)
delete from event_link l
where l.namespace = $1
    and l.commitment_id in (
        select a.event_id from member m
        join owner_event a on a.namespace = $1 and a.entity_id = m.entity_id and a.is_promise)
    and not exists (
        select
        from owner_event a
        join entity p on p.namespace = $1 and p.entity_id = a.entity_id
        join owner_event b on b.namespace = $1 and b.event_id = l.closing_id
        join entity q on q.namespace = $1 and q.entity_id = b.entity_id
        where a.namespace = $1 and a.event_id = l.commitment_id
            and coalesce(p.canonical_id, p.entity_id) = coalesce(q.canonical_id, q.entity_id))
    and exists (
        select from owner_event b join member m on m.entity_id = b.entity_id
        where b.namespace = $1 and b.event_id = l.closing_id)
