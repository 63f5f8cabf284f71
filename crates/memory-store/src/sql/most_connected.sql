-- graph::most_connected: the entities with the most relations, and up to $4 of the names at the other ends.
with ends as (
    select from_id as entity_id from graph_relation where namespace = $1 and thread_id = $2 and from_id is not null
    union all
    select to_id from graph_relation
    where namespace = $1 and thread_id = $2 and to_id is not null and to_id is distinct from from_id
), most as materialized (
    select entity_id, count(*) as relations
    from ends
    group by entity_id
    order by relations desc, entity_id
    limit $3
)
select e.name, e.entity_type, m.relations,
       array(select other
             from (select to_name as other, relation_id
                   from graph_relation
                   where namespace = $1 and thread_id = $2 and from_id = m.entity_id
                   union all
                   select from_name, relation_id
                   from graph_relation
                   where namespace = $1 and thread_id = $2 and to_id = m.entity_id) others
             where other <> e.name
             group by other
             order by min(relation_id)
             limit $4) as connected_to
from most m
cross join lateral (
    select name, entity_type from graph_entity
    where namespace = $1 and thread_id = $2 and entity_id = m.entity_id
    offset 0
) e
order by m.relations desc, m.entity_id
