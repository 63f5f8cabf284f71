-- graph::entities: until their text passes $5 characters. Of an entity that has more than $4 observations or $6 characters
-- of them only so many are shown (null: all): those that $7 meets, then the newest, or, $8, the oldest. Texts beyond that are measured,
-- not fetched. "offset 0": see hydrate.sql.
with listed as materialized (
    select e.*, o.observation_count, o.all_chars,
           char_length(e.name) + char_length(e.entity_type) + least(o.all_chars, $6) as chars
    from unnest($3::bigint[]) g (entity_id)
    cross join lateral (
        select entity_id, name, entity_type
        from graph_entity
        where namespace = $1 and thread_id = $2 and entity_id = g.entity_id
        offset 0
    ) e
    cross join lateral (
        select count(*) as observation_count, coalesce(sum(char_length(content)), 0)::bigint as all_chars
        from graph_observation
        where namespace = $1 and thread_id = $2 and entity_id = g.entity_id and is_current and $4 is distinct from 0
    ) o
), fitting as materialized (
    select *
    from (select listed.*, sum(chars) over (order by entity_id) - chars as chars_before from listed) measured
    where chars_before < $5
)
select f.entity_id, f.name, f.entity_type, f.chars::bigint as chars, f.observation_count,
       case
           when coalesce(f.observation_count <= $4, true) and coalesce(f.all_chars <= $6, true)
           then array(select content
                      from graph_observation
                      where namespace = $1 and thread_id = $2 and entity_id = f.entity_id and is_current
                        and $4 is distinct from 0
                      order by chain_id)
           -- The first one is there however long it is, and one character longer than it may be.
           else array(select case when s.n = 1 then left(s.content, $6::int + 1) else s.content end
                      from (select o.content, o.chain_id, row_number() over preferred as n,
                                   sum(char_length(o.content)) over preferred as chars
                            from graph_observation o
                            where o.namespace = $1 and o.thread_id = $2 and o.entity_id = f.entity_id and o.is_current
                            window preferred as (
                                order by coalesce(o.folded like $7, false) desc,
                                         case when $8 then o.chain_id else -o.chain_id end
                                rows unbounded preceding)) s
                      where s.n = 1 or (s.n <= $4 and s.chars <= $6)
                      order by s.chain_id)
       end as observations
from fitting f
order by f.entity_id
