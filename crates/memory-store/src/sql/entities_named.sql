-- entities::twins: the entities that bear these names ($2, of the types $3) or have these ids ($4). Whether one has an
-- address is only asked where it matters ($5), and of all that count as the same.
select t.entity_id, coalesce(t.canonical_id, t.entity_id) as root, t.entity_type, t.normalised, t.distinguisher,
    $5 and t.entity_type = 'person' and exists (
        select from (
            select t.entity_id as member
            union all
            select coalesce(t.canonical_id, t.entity_id)
            union all
            select m.entity_id from entity m where m.namespace = $1 and m.canonical_id = coalesce(t.canonical_id, t.entity_id)
        ) same
        where exists (select from entity_alias a
                      where a.namespace = $1 and a.entity_id = same.member and position('@' in a.normalised) > 1)
    ) as has_address
from (
    select e.entity_id
    from unnest($2::text[], $3::text[]) u (normalised, entity_type)
    cross join lateral (
        select entity_id from entity
        where namespace = $1 and entity_type = u.entity_type and normalised = u.normalised
        offset 0
    ) e
    union
    select unnest($4::bigint[])
) wanted
cross join lateral (select * from entity where namespace = $1 and entity_id = wanted.entity_id offset 0) t
order by t.entity_id
