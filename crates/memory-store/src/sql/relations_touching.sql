-- graph::relations_touching: the next $5 after $4; those between two of the entities come twice. "offset 0": see
-- hydrate.sql.
select * from (
    select r.*
    from unnest($3::bigint[]) g (entity_id)
    cross join lateral (
        select relation_id, from_id, to_id, from_name, to_name, relation_type, importance
        from graph_relation
        where namespace = $1 and thread_id = $2 and from_id = g.entity_id
        offset 0
    ) r
    union all
    select r.*
    from unnest($3::bigint[]) g (entity_id)
    cross join lateral (
        select relation_id, from_id, to_id, from_name, to_name, relation_type, importance
        from graph_relation
        where namespace = $1 and thread_id = $2 and to_id = g.entity_id
        offset 0
    ) r
) touching
where relation_id > $4
order by relation_id
limit $5
