-- graph::relations_touching: those between two of the entities come twice. «offset 0»: see hydrate.sql.
select r.relation_id, r.from_id, r.to_id, r.from_name, r.to_name, r.relation_type
from unnest($3::bigint[]) g (entity_id)
cross join lateral (
    select relation_id, from_id, to_id, from_name, to_name, relation_type
    from graph_relation
    where namespace = $1 and thread_id = $2 and from_id = g.entity_id
    offset 0
) r
union all
select r.relation_id, r.from_id, r.to_id, r.from_name, r.to_name, r.relation_type
from unnest($3::bigint[]) g (entity_id)
cross join lateral (
    select relation_id, from_id, to_id, from_name, to_name, relation_type
    from graph_relation
    where namespace = $1 and thread_id = $2 and to_id = g.entity_id
    offset 0
) r
