-- graph::insert_observations: $10 keeps those that an entity has already. "offset 0", "ctid": see settle_entities.sql.
with given as materialized (
    select *
    from unnest($3::bigint[], $4::bigint[], $5::uuid[], $6::text[], $7::text[], $8::real[], $9::real[])
         with ordinality g (entity_id, handle, content_key, content, folded, confidence, importance, n)
),
inserted as (
    insert into graph_observation (namespace, thread_id, entity_id, handle, content_key, content, folded,
                                   confidence, importance)
    select $1, $2, g.entity_id, g.handle, g.content_key, g.content, g.folded, g.confidence, g.importance
    from given g
    where $10
       or not exists (select from graph_observation o
                      where o.namespace = $1 and o.thread_id = $2 and o.entity_id = g.entity_id
                        and o.content_key = g.content_key and o.is_current
                      offset 0)
    order by g.n
    returning entity_id, content_key, handle
),
touched as (
    -- An entity that is as new as the observation needs no touch.
    update graph_entity
    set updated_at = now()
    where not $10
      and ctid = any(array(
          select e.ctid
          from inserted i
          cross join lateral (
              select ctid from graph_entity where namespace = $1 and thread_id = $2 and entity_id = i.entity_id offset 0
          ) e
      ))
)
select entity_id, content_key, handle from inserted
