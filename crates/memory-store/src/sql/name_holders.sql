-- entities::holders: the people that go by each of these names (at most 8 a name), with whom they count as.
-- The next holder is looked up behind the last one: of a name that thousands of texts tell only a few rows are read.
select u.name, t.entity_id, coalesce(t.canonical_id, t.entity_id) as root,
    exists (select from entity_alias a
            where a.namespace = $1 and a.entity_id = t.entity_id and position('@' in a.normalised) > 1) as has_address
from unnest($2::text[]) u (name)
cross join lateral (
    with recursive holder as (
        (select entity_id, 1 as n from entity_alias
         where namespace = $1 and normalised = u.name
         order by entity_id limit 1)
        union all
        select next.entity_id, h.n + 1
        from holder h
        cross join lateral (
            select entity_id from entity_alias
            where namespace = $1 and normalised = u.name and entity_id > h.entity_id
            order by entity_id limit 1
        ) next
        where h.n < 8
    )
    select entity_id from holder offset 0
) h
cross join lateral (select * from entity where namespace = $1 and entity_id = h.entity_id offset 0) t
where t.entity_type = 'person'
order by u.name, t.entity_id
