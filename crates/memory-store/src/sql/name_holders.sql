-- entities::holders: the people that go by each of these names, with whom they count as: the first and the last of them,
-- which are one for nearly every name. Of a name that thousands of texts have only two rows are read.
select u.name, t.entity_id, coalesce(t.canonical_id, t.entity_id) as root,
    (select r.name from entity r
     where r.namespace = $1 and r.entity_id = coalesce(t.canonical_id, t.entity_id)) as root_name,
    exists (select from entity_alias a
            where a.namespace = $1 and a.entity_id = t.entity_id and position('@' in a.normalised) > 1) as has_address
from unnest($2::text[]) u (name)
cross join lateral (
    (select entity_id from entity_alias where namespace = $1 and normalised = u.name order by entity_id limit 1)
    union
    (select entity_id from entity_alias where namespace = $1 and normalised = u.name order by entity_id desc limit 1)
) h
cross join lateral (select * from entity where namespace = $1 and entity_id = h.entity_id offset 0) t
where t.entity_type = 'person'
order by u.name, t.entity_id
