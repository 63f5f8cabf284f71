-- review::pairs: pairs that are not decided on, likeliest first. Pairs that count as one
-- by other merges are left out.
with pair as materialized (
    select c.score, c.reasons, coalesce(a.canonical_id, a.entity_id) as a, coalesce(b.canonical_id, b.entity_id) as b,
        c.low_id, c.high_id
    from entity_candidate c
    join entity a on a.namespace = $1 and a.entity_id = c.low_id
    join entity b on b.namespace = $1 and b.entity_id = c.high_id
    where c.namespace = $1 and c.state = 'open'
        and ($2::text is null or a.entity_type = $2)
        and ($3::text is null or position($3 in a.normalised) > 0 or position($3 in b.normalised) > 0)
)
select count(*) over () as total, p.score, p.reasons, a.entity_type,
    a.entity_id as a_id, a.name as a_name, b.entity_id as b_id, b.name as b_name,
    (select count(*) from entity_mention m where m.namespace = $1 and m.entity_id = a.entity_id) as a_mentions,
    (select count(*) from entity_mention m where m.namespace = $1 and m.entity_id = b.entity_id) as b_mentions
from pair p
join entity a on a.namespace = $1 and a.entity_id = p.a
join entity b on b.namespace = $1 and b.entity_id = p.b
where p.a <> p.b
order by p.score desc, a.entity_id, b.entity_id
limit $4
