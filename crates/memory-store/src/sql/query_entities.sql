-- graph::query_entities: entities with the current observations that are in all ranges, of more than $12 characters the
-- newest; one without any observation counts by its own values. An observation counts for 100 characters more than it has.
-- Walks the thread in order; "offset 0" keeps each look-up a look-up.
select *
from (
    select listed.*, count(*) over () as listed,
           sum(chars) over (order by entity_id rows unbounded preceding) - chars as chars_before
    from (
        select e.entity_id, e.name, e.entity_type, e.confidence, e.importance, e.created_at, e.updated_at,
               found.observations, found.observation_count, 100 + char_length(e.name) + char_length(e.entity_type) + found.chars as chars
        from graph_entity e
        cross join lateral (
            select json_agg(json_build_object(
                       'handle', o.handle, 'version', o.version,
                       'content', case when char_length(o.content) > $12 then left(o.content, $12::int) || '…' else o.content end,
                       'created_at', o.created_at, 'confidence', o.confidence, 'importance', o.importance)
                       order by o.chain_id) filter (where o.n = 1 or o.chars <= $12) as observations,
                   count(*) as observation_count, coalesce(max(o.chars) filter (where o.n = 1 or o.chars <= $12), 0) as chars
            from (select o.*, row_number() over newest as n, sum(char_length(o.content) + 100) over newest as chars
                  from (select * from graph_observation o
                        where o.namespace = $1 and o.thread_id = $2 and o.entity_id = e.entity_id and o.is_current
                        offset 0) o
                  where ($5::timestamptz is null or o.created_at >= $5) and ($6::timestamptz is null or o.created_at <= $6)
                    and ($7::real is null or o.confidence >= $7) and ($8::real is null or o.confidence <= $8)
                    and ($9::real is null or o.importance >= $9) and ($10::real is null or o.importance <= $10)
                  window newest as (order by o.chain_id desc rows unbounded preceding)) o
        ) found
        where e.namespace = $1 and e.thread_id = $2 and e.entity_id > $3
          and ($11::text is null or e.folded_type = $11)
          and (found.observations is not null
               or (not exists (select from graph_observation o
                               where o.namespace = $1 and o.thread_id = $2 and o.entity_id = e.entity_id and o.is_current
                               offset 0)
                   and ($5::timestamptz is null or e.created_at >= $5) and ($6::timestamptz is null or e.created_at <= $6)
                   and ($7::real is null or e.confidence >= $7) and ($8::real is null or e.confidence <= $8)
                   and ($9::real is null or e.importance >= $9) and ($10::real is null or e.importance <= $10)))
        order by e.entity_id
        limit $4
    ) listed
) measured
where chars_before < $12
order by entity_id
