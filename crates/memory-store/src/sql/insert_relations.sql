-- graph::insert_relations. "offset 0": see hydrate.sql.
insert into graph_relation (namespace, thread_id, relation_key, from_key, to_key, from_id, to_id,
                            from_name, to_name, relation_type, importance)
select $1, $2, g.relation_key, g.from_key, g.to_key, f.entity_id, t.entity_id,
       g.from_name, g.to_name, g.relation_type, g.importance
from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::real[])
     with ordinality g (relation_key, from_key, to_key, from_name, to_name, relation_type, importance, n)
left join lateral (
    select entity_id from graph_entity where namespace = $1 and thread_id = $2 and name_key = g.from_key offset 0
) f on true
left join lateral (
    select entity_id from graph_entity where namespace = $1 and thread_id = $2 and name_key = g.to_key offset 0
) t on true
order by g.n
on conflict (namespace, thread_id, relation_key) do nothing
returning relation_key
