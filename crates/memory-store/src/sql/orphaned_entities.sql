-- graph::orphaned_entities: entities that nothing else is related to (roots excepted), and entities with a relation whose
-- other end does not exist. The first walk ends at $3. "offset 0" keeps each look-up a look-up.
with alone as (
    select e.entity_id, 'no_relations' as reason
    from graph_entity e
    where e.namespace = $1 and e.thread_id = $2 and not e.is_root
      and not exists (select from graph_relation
                      where namespace = $1 and thread_id = $2 and from_id = e.entity_id
                        and to_id is distinct from from_id offset 0)
      and not exists (select from graph_relation
                      where namespace = $1 and thread_id = $2 and to_id = e.entity_id
                        and to_id is distinct from from_id offset 0)
    order by e.entity_id
    limit $3
), broken as (
    select coalesce(from_id, to_id) as entity_id, 'broken_relation' as reason
    from graph_relation
    where namespace = $1 and thread_id = $2 and from_id is null and to_id is not null
    union
    select from_id, 'broken_relation'
    from graph_relation
    where namespace = $1 and thread_id = $2 and to_id is null and from_id is not null
    order by 1
    limit $3
)
select e.name, e.entity_type, o.reason, o.entity_id
from (select * from alone union all select * from broken) o
cross join lateral (
    select name, entity_type from graph_entity
    where namespace = $1 and thread_id = $2 and entity_id = o.entity_id
    offset 0
) e
order by o.entity_id, o.reason
limit $3
