-- lifecycle::matters: of each owner ($2, with what counts as the same; $7 is whom it counts as for this alone) the promises and
-- what may end them, as far as new ones have to do with them: the endings since the first new promise ($3), oldest first, and the new endings ($4); then
-- the promises before the last of all these, newest first. At most $5 promises and $6 endings an entity.
with owner as materialized (
    select entity_id, root, min(first_promise) over (partition by root) as first_promise
    from (
        select coalesce(t.canonical_id, t.entity_id) as entity_id,
            min(coalesce(o.counts_as, t.canonical_id, t.entity_id)) as root, min(o.first_promise) as first_promise
        from unnest($2::bigint[], $3::timestamptz[], $7::bigint[]) o (entity_id, first_promise, counts_as)
        cross join lateral (
            select entity_id, canonical_id from entity where namespace = $1 and entity_id = o.entity_id offset 0
        ) t
        group by 1
    ) counted
), member as materialized (
    select root, entity_id, first_promise from owner
    union all
    select o.root, m.entity_id, o.first_promise from owner o
    cross join lateral (select entity_id from entity where namespace = $1 and canonical_id = o.entity_id order by entity_id limit 8) m
), ending as materialized (
    select m.root, e.*
    from member m
    cross join lateral (
        select * from owner_event
        where namespace = $1 and entity_id = m.entity_id and not is_promise
            and occurred_at >= m.first_promise - interval '1 day'
        order by occurred_at
        limit $6
    ) e
    union
    select m.root, e.*
    from unnest($4::text[]) n (event_id)
    cross join lateral (select * from owner_event where namespace = $1 and event_id = n.event_id offset 0) e
    join member m on m.entity_id = e.entity_id
)
select root, entity_id as owner, event_id, occurred_at, ending, matter, revision_id, start_char, said_at,
    conversation_id, turn_index
from (
    select * from ending
    union all
    select l.root, e.*
    from (select root, max(occurred_at) as last_ending from ending group by root) l
    join member m on m.root = l.root
    cross join lateral (
        select * from owner_event
        where namespace = $1 and entity_id = m.entity_id and is_promise
            and occurred_at <= l.last_ending + interval '1 day'
        order by occurred_at desc
        limit $5
    ) e
) found
order by root, said_at, revision_id, start_char, event_id
