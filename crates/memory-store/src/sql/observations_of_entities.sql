-- facts::of_entities: the most important observations of entities by their names, in the graph $3 or, without it, in all
-- threads and the file $6. "offset 0": see hydrate.sql.
select o.handle
from unnest($2::text[]) with ordinality n (folded_name, place)
cross join lateral (
    select g.thread_id, g.entity_id from graph_entity g
    join graph_thread t on t.namespace = $1 and t.thread_id = g.thread_id
    where g.namespace = $1 and g.folded_name = n.folded_name and length(g.folded_name) <= 200
      and (t.name = $3 or ($3 is null and (t.file_path is null or t.name = $6)))
    order by g.thread_id, g.entity_id
    limit 10
    offset 0
) e
cross join lateral (
    select handle, importance, chain_id from graph_observation
    where namespace = $1 and thread_id = e.thread_id and entity_id = e.entity_id and is_current
    order by importance desc, chain_id desc
    limit $4
    offset 0
) o
order by n.place, e.thread_id, o.importance desc, o.chain_id desc
limit $5
