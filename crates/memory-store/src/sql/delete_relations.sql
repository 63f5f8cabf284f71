-- graph::delete_relations. "offset 0", "ctid": see settle_entities.sql.
delete from graph_relation
where ctid = any(array(
    select r.ctid
    from unnest($3::uuid[]) g (relation_key)
    cross join lateral (
        select ctid
        from graph_relation
        where namespace = $1 and thread_id = $2 and relation_key = g.relation_key
        offset 0
    ) r
))
