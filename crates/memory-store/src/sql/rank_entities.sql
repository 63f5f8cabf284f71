-- review::list, ranked among all: where no name and no type narrows them mentions are counted in one go, else one by one.
with matching as materialized (
    select coalesce(t.canonical_id, t.entity_id) as root
    from entity t
    where t.namespace = $1
        and ($2::text is null or t.entity_type = $2)
        and ($3::text is null or position($3 in t.normalised) > 0 or t.entity_id in (
            select a.entity_id from entity_alias a where a.namespace = $1 and position($3 in a.normalised) > 0))
    group by 1
), mentioned as materialized (
    /*mentioned*/
), ranked as materialized (
    -- Mentions of the same words by two that count as one are counted twice here: a few more are taken, and counted below.
    select m.root, coalesce(sum(n.mentions), 0)::bigint as mentions, count(*) > 1 as has_merged, count(*) over () as total
    from matching m
    join entity t on t.namespace = $1 and coalesce(t.canonical_id, t.entity_id) = m.root
    left join mentioned n on n.entity_id = t.entity_id
    group by m.root
    order by mentions desc
    limit $4 + 100
)
