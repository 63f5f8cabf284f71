-- facts::of_observations: current observations with their entities, threads and some relations. "offset 0": see hydrate.sql.
select u.handle, t.name as thread, e.name as entity, e.entity_type, o.content, o.importance, o.created_at,
    coalesce(relations.found, '[]'::json) as relations
from unnest($2::bigint[]) with ordinality u (handle, n)
cross join lateral (select * from graph_observation where namespace = $1 and handle = u.handle and is_current offset 0) o
cross join lateral (select * from graph_entity where namespace = $1 and thread_id = o.thread_id and entity_id = o.entity_id offset 0) e
cross join lateral (select name from graph_thread where namespace = $1 and thread_id = o.thread_id offset 0) t
left join lateral (
    select json_agg(json_build_object('from', r.from_name, 'to', r.to_name, 'relation_type', r.relation_type)
                    order by r.importance desc, r.relation_id) as found
    from (
        select from_name, to_name, relation_type, importance, relation_id
        from (
            (select * from graph_relation where namespace = $1 and thread_id = o.thread_id and from_id = o.entity_id limit 100)
            union
            (select * from graph_relation where namespace = $1 and thread_id = o.thread_id and to_id = o.entity_id limit 100)
        ) touching
        order by importance desc, relation_id
        limit $3
    ) r
) relations on true
order by u.n
