-- graph::stream_entities. The entities are put in order before their observations are read. "offset 0": see hydrate.sql.
select e.entity_id, e.name, e.entity_type,
       array(select content
             from graph_observation
             where namespace = $1 and thread_id = $2 and entity_id = e.entity_id and is_current
             order by chain_id) as observations
from (
    select s.entity_id, s.name, s.entity_type
    from unnest($3::bigint[]) with ordinality g (entity_id, n)
    cross join lateral (
        select entity_id, name, entity_type
        from graph_entity
        where namespace = $1 and thread_id = $2 and entity_id = g.entity_id
        offset 0
    ) s
    order by g.n
    offset 0
) e
