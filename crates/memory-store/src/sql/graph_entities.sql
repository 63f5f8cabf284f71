-- graph::entities: $4 observations of each (null: all), until their text passes $5 characters. Texts beyond that are
-- measured, not fetched. «offset 0»: see hydrate.sql.
with listed as materialized (
    select e.*, char_length(e.name) + char_length(e.entity_type) + o.chars as chars
    from unnest($3::bigint[]) g (entity_id)
    cross join lateral (
        select entity_id, name, entity_type
        from graph_entity
        where namespace = $1 and thread_id = $2 and entity_id = g.entity_id
        offset 0
    ) e
    cross join lateral (
        select coalesce(sum(char_length(content)), 0) as chars
        from (select content
              from graph_observation
              where namespace = $1 and thread_id = $2 and entity_id = g.entity_id and is_current
              order by chain_id
              limit $4) shown
    ) o
), fitting as materialized (
    select *
    from (select listed.*, sum(chars) over (order by entity_id) - chars as chars_before from listed) measured
    where chars_before < $5
)
select f.entity_id, f.name, f.entity_type, f.chars::bigint as chars,
       (select count(*)
        from graph_observation
        where namespace = $1 and thread_id = $2 and entity_id = f.entity_id and is_current and $4 = 1
        having $4 = 1) as observation_count,
       array(select content
             from graph_observation
             where namespace = $1 and thread_id = $2 and entity_id = f.entity_id and is_current
             order by chain_id
             limit $4) as observations
from fitting f
order by f.entity_id
