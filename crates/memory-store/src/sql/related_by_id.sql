-- expansion::related_by_id: events that were found in memory, in the order asked for. "offset 0": see hydrate.sql.
select u.n, json_build_object(
    /*event*/
)
from unnest($2::text[]) with ordinality u (event_id, n)
cross join lateral (select * from semantic_event where namespace = $1 and event_id = u.event_id offset 0) e
order by u.n
