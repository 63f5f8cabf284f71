-- lifecycle::nobodys: what may be held against each other beyond one owner: the endings of nobody ($7) since the first new promise
-- ($2), those of anybody since the first new promise of nobody ($3), oldest first, at most $6 each, and the new endings; then
-- the promises of half a year before the last of all these, newest first, at most $5, and the new ones. New events are $4.
with ending as materialized (
    (select * from owner_event
     where namespace = $1 and not is_promise and entity_id = $7 and occurred_at >= $2::timestamptz - interval '1 day'
     order by occurred_at, event_id
     limit $6)
    union
    (select * from owner_event
     where namespace = $1 and not is_promise and occurred_at >= $3::timestamptz - interval '1 day'
     order by occurred_at, event_id
     limit $6)
    union
    select e.*
    from unnest($4::text[]) n (event_id)
    cross join lateral (
        select * from owner_event where namespace = $1 and event_id = n.event_id and not is_promise offset 0
    ) e
)
select entity_id as root, entity_id as owner, event_id, occurred_at, ending, matter, revision_id, start_char, said_at,
    conversation_id, turn_index
from (
    select * from ending
    union all
    select p.*
    from (select min(occurred_at) as first, max(occurred_at) as last from ending) l
    cross join lateral (
        select * from owner_event
        where namespace = $1 and is_promise
            and occurred_at between l.first - interval '180 days' and l.last + interval '1 day'
        order by occurred_at desc, event_id
        limit $5
    ) p
    union
    select e.*
    from unnest($4::text[]) n (event_id)
    cross join lateral (
        select * from owner_event where namespace = $1 and event_id = n.event_id and is_promise offset 0
    ) e
) found
order by said_at, revision_id, start_char, event_id, entity_id
