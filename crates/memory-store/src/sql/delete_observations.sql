-- graph::delete_observations. "offset 0", "ctid": see settle_entities.sql.
with deleted as (
    delete from graph_observation
    where ctid = any(array(
        select o.ctid
        from unnest($3::bigint[], $4::uuid[]) g (entity_id, content_key)
        cross join lateral (
            select chain_id
            from graph_observation
            where namespace = $1 and thread_id = $2 and entity_id = g.entity_id and content_key = g.content_key
              and is_current
            offset 0
        ) c
        cross join lateral (
            select ctid
            from graph_observation
            where namespace = $1 and thread_id = $2 and entity_id = g.entity_id and chain_id = c.chain_id
            offset 0
        ) o
    ))
    returning entity_id
),
touched as (
    update graph_entity
    set updated_at = now()
    where ctid = any(array(
        select e.ctid
        from deleted d
        cross join lateral (
            select ctid from graph_entity where namespace = $1 and thread_id = $2 and entity_id = d.entity_id offset 0
        ) e
    ))
)
select count(*) from deleted
