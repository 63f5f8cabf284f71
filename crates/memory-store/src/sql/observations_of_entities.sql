-- facts::of_entities: the most important observations of entities by their names. «offset 0»: see hydrate.sql.
select o.handle
from unnest($2::text[]) with ordinality n (folded_name, place)
cross join lateral (
    select thread_id, entity_id from graph_entity
    where namespace = $1 and folded_name = n.folded_name and length(folded_name) <= 200
    order by thread_id, entity_id
    limit 10
    offset 0
) e
cross join lateral (select name from graph_thread where namespace = $1 and thread_id = e.thread_id offset 0) t
cross join lateral (
    select handle, importance, chain_id from graph_observation
    where namespace = $1 and thread_id = e.thread_id and entity_id = e.entity_id and is_current
    order by importance desc, chain_id desc
    limit $4
    offset 0
) o
where $3::text is null or t.name = $3
order by n.place, e.thread_id, o.importance desc, o.chain_id desc
limit $5
