-- graph::recent_changes: an entity is changed by a relation from it as well, of which the newest 1,000 are looked at. What was made
-- together has one time.
with related as (
    select from_id as entity_id, max(created_at) as related_at
    from (select from_id, created_at from graph_relation
          where namespace = $1 and thread_id = $2
          order by relation_id desc
          limit 1000) newest
    where from_id is not null
    group by from_id
), listed as (
    (select entity_id from graph_entity
     where namespace = $1 and thread_id = $2
     order by updated_at desc, entity_id desc
     limit $3)
    union
    select entity_id from related
)
select e.name, e.entity_type, greatest(e.updated_at, r.related_at) as changed_at,
       greatest(e.updated_at, r.related_at) = e.created_at as is_new
from listed l
left join related r using (entity_id)
cross join lateral (
    select entity_id, name, entity_type, created_at, updated_at from graph_entity
    where namespace = $1 and thread_id = $2 and entity_id = l.entity_id
    offset 0
) e
order by changed_at desc, e.entity_id desc
limit $3
