-- graph::delete_entities: what an entity had goes with it by its keys. "offset 0", "ctid": see settle_entities.sql.
with deleted as (
    delete from graph_entity
    where ctid = any(array(
        select e.ctid
        from unnest($3::uuid[]) n (name_key)
        cross join lateral (
            select ctid from graph_entity where namespace = $1 and thread_id = $2 and name_key = n.name_key offset 0
        ) e
    ))
    returning entity_id
),
counted as (
    update graph_thread
    set entities = entities - (select count(*) from deleted)
    where namespace = $1 and thread_id = $2
),
without_end as (
    delete from graph_relation
    where ctid = any(array(
        select d.ctid
        from unnest($3::uuid[]) n (name_key)
        cross join lateral (
            select ctid
            from graph_relation
            where namespace = $1 and thread_id = $2 and from_key = n.name_key and from_id is null
            offset 0
        ) d
        union all
        select d.ctid
        from unnest($3::uuid[]) n (name_key)
        cross join lateral (
            select ctid
            from graph_relation
            where namespace = $1 and thread_id = $2 and to_key = n.name_key and to_id is null
            offset 0
        ) d
    ))
    returning relation_id
)
select (select count(*) from deleted) + (select count(*) from without_end)
