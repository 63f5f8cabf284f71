-- graph::by_trigrams. Written so that only the trigram indexes fit: "+ 0" is in them, "|| ''" in no index. In views, since no policy would let an index be used for them.
with found as materialized (
    select entity_id from searched_graph_entity
    where thread_id + 0 = $2 and folded_name like $3 and namespace || '' = $1
    union
    select entity_id from searched_graph_entity
    where thread_id + 0 = $2 and folded_type like $3 and namespace || '' = $1
    union
    select entity_id from searched_graph_observation
    where thread_id + 0 = $2 and folded like $3 and is_current and namespace || '' = $1
)
select entity_id
from found
where entity_id > $4
order by entity_id
limit $5
