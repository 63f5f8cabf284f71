-- graph::placed_entities. "offset 0": see hydrate.sql.
select e.entity_id, e.name_key, e.entity_type, o.chains, o.contents
from unnest($3::uuid[]) n (name_key)
cross join lateral (
    select entity_id, name_key, entity_type
    from graph_entity
    where namespace = $1 and thread_id = $2 and name_key = n.name_key
    offset 0
) e
cross join lateral (
    select coalesce(array_agg(chain_id order by chain_id), '{}') as chains,
           coalesce(array_agg(content order by chain_id), '{}') as contents
    from (select chain_id, content
          from graph_observation
          where namespace = $1 and thread_id = $2 and entity_id = e.entity_id and is_current
          offset 0) listed
) o
