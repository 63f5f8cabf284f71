-- review::list, ranked among those that the newest $5 mentions name: of these the ones that are named most there are counted, and
-- stand in the order of all their mentions.
with newest as materialized (
    select entity_id from entity_mention where namespace = $1 order by revision_id desc limit $5
), often as materialized (
    select coalesce(t.canonical_id, t.entity_id) as root
    from (select entity_id, count(*) as mentions from newest group by entity_id) n
    join entity t on t.namespace = $1 and t.entity_id = n.entity_id
    where $2::text is null or t.entity_type = $2
    group by 1
    order by sum(n.mentions) desc
    limit $4 + 100
), ranked as materialized (
    select o.root, sum(m.mentions)::bigint as mentions, count(*) > 1 as has_merged,
        case when $2::text is null
             then (select count(*) from entity where namespace = $1 and canonical_id is null)
             else (select count(distinct coalesce(canonical_id, entity_id)) from entity where namespace = $1 and entity_type = $2)
             end as total
    from often o
    cross join lateral (
        select o.root as entity_id
        union all
        select entity_id from entity where namespace = $1 and canonical_id = o.root
    ) own
    cross join lateral (select count(*) as mentions from entity_mention where namespace = $1 and entity_id = own.entity_id) m
    group by o.root
)
