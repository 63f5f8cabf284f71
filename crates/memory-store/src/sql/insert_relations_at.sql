-- graph::insert_relations_at. "offset 0": see hydrate.sql.
insert into graph_relation (namespace, thread_id, importance, relation_id, relation_key, from_key, to_key,
                            from_name, to_name, relation_type, from_id, to_id)
select $1, $2, $3, g.*, f.entity_id, t.entity_id
from unnest($4::bigint[], $5::uuid[], $6::uuid[], $7::uuid[], $8::text[], $9::text[], $10::text[])
     g (relation_id, relation_key, from_key, to_key, from_name, to_name, relation_type)
left join lateral (
    select entity_id from graph_entity where namespace = $1 and thread_id = $2 and name_key = g.from_key offset 0
) f on true
left join lateral (
    select entity_id from graph_entity where namespace = $1 and thread_id = $2 and name_key = g.to_key offset 0
) t on true
