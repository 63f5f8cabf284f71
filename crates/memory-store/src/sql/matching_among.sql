-- graph::matching_among. "offset 0": see hydrate.sql.
select e.entity_id
from unnest($4::bigint[]) g (entity_id)
cross join lateral (
    select entity_id, folded_name, folded_type
    from graph_entity
    where namespace = $1 and thread_id = $2 and entity_id = g.entity_id
    offset 0
) e
where e.folded_name like $3 or e.folded_type like $3
   or exists (select from graph_observation o
              where o.namespace = $1 and o.thread_id = $2 and o.entity_id = e.entity_id and o.is_current
                and o.folded like $3
              offset 0)
