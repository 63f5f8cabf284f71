-- review::mark_rejected: the pair itself, and every pair of what counts as the one or the other.
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
), known as (
    update entity_candidate c set state = 'rejected'
    from pair p
    where c.namespace = $1 and c.low_id = p.low_id and c.high_id = p.high_id and c.state = 'open'
        and (p.low_id, p.high_id) <> (least($2, $3), greatest($2, $3))
)
insert into entity_candidate (namespace, low_id, high_id, score, reasons, state)
values ($1, least($2, $3), greatest($2, $3), 0, array['rejected'], 'rejected')
on conflict (namespace, low_id, high_id) do update set state = 'rejected'
