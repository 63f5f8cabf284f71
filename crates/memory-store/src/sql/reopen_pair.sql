-- review::unmark_rejected: pairs that were not doubtful before they were rejected go.
with grouped as materialized (
    select t.entity_id, coalesce(t.canonical_id, t.entity_id) = a.root as is_first
    from (select coalesce(canonical_id, entity_id) as root from entity where namespace = $1 and entity_id = $2) a
    cross join (select coalesce(canonical_id, entity_id) as root from entity where namespace = $1 and entity_id = $3) b
    join entity t on t.namespace = $1
        and (t.entity_id in (a.root, b.root) or t.canonical_id in (a.root, b.root))
), pair as materialized (
    select least(a.entity_id, b.entity_id) as low_id, greatest(a.entity_id, b.entity_id) as high_id
    from grouped a
    cross join grouped b
    where a.is_first and not b.is_first
), gone as (
    delete from entity_candidate c
    using pair p
    where c.namespace = $1 and c.low_id = p.low_id and c.high_id = p.high_id
        and c.state = 'rejected' and c.score = 0
    returning 1
), opened as (
    update entity_candidate c set state = 'open'
    from pair p
    where c.namespace = $1 and c.low_id = p.low_id and c.high_id = p.high_id
        and c.state = 'rejected' and c.score > 0
    returning 1
)
select (select count(*) from gone) + (select count(*) from opened)
