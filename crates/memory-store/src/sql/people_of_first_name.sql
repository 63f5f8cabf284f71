-- lifecycle::short_names: of each owner ($2), as what it counts as, the people who have its first name, by name, at most $3, and whether
-- one of the two was said not to be the other.
select o.entity_id, p.entity_id, p.normalised, exists (
    select from entity_candidate c
    where c.namespace = $1 and c.state = 'rejected'
        and c.low_id = least(o.entity_id, p.entity_id) and c.high_id = greatest(o.entity_id, p.entity_id))
from (
    select distinct r.entity_id, split_part(r.normalised, ' ', 1) as first_name
    from unnest($2::bigint[]) n (entity_id)
    join entity t on t.namespace = $1 and t.entity_id = n.entity_id
    join entity r on r.namespace = $1 and r.entity_id = coalesce(t.canonical_id, t.entity_id)
    where r.entity_type = 'person'
) o
cross join lateral (
    select distinct r.entity_id, r.normalised
    from (
        select entity_id from entity_key
        where namespace = $1 and entity_type = 'person'
            and key = 'w:' || regexp_replace(o.first_name, '[^[:alnum:]]', '', 'g')
        order by entity_id
        limit 1000
    ) k
    join entity t on t.namespace = $1 and t.entity_id = k.entity_id
    join entity r on r.namespace = $1 and r.entity_id = coalesce(t.canonical_id, t.entity_id)
    where split_part(r.normalised, ' ', 1) = o.first_name
    order by r.normalised, r.entity_id
    limit $3
) p
order by o.entity_id, p.normalised, p.entity_id
