-- expansion::entities_called: entities with these names, at most 8 a name, in the order of the names. The next holder is
-- looked up behind the last one: of a name that thousands of texts have only a few rows are read.
select root
from (
    select coalesce(t.canonical_id, t.entity_id) as root, min(u.n) as n
    from unnest($2::text[]) with ordinality u (name, n)
    -- Most words are no name: that takes one probe.
    cross join lateral (
        select from entity_alias where namespace = $1 and normalised = u.name limit 1 offset 0
    ) probe
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
    cross join lateral (
        select entity_id, canonical_id from entity where namespace = $1 and entity_id = h.entity_id offset 0
    ) t
    group by 1
) called
order by n, root
limit $3
