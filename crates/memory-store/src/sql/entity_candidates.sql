-- entities::candidates: for each name ($2, with its type and the entity it is taken for unless another is found) the
-- entities that share a key with it (at most 16 a key, newest first) or go by it (the first and the last of these); those
-- that count as the same together.
with name as materialized (
    select u.n, u.entity_type, u.normalised, u.own_id, u.asks_address, coalesce(o.canonical_id, o.entity_id) as own_root
    from unnest($2::int[], $3::text[], $4::text[], $5::bigint[], $9::bool[])
        u (n, entity_type, normalised, own_id, asks_address)
    left join lateral (
        select entity_id, canonical_id from entity where namespace = $1 and entity_id = u.own_id offset 0
    ) o on true
), found as materialized (
    select k.n, e.entity_id, false as is_known_name
    from unnest($6::int[], $7::text[], $8::text[]) k (n, entity_type, key)
    cross join lateral (
        select entity_id from entity_key
        where namespace = $1 and entity_type = k.entity_type and key = k.key
        order by entity_id desc
        limit 16
    ) e
    union
    select u.n, h.entity_id, true
    from name u
    cross join lateral (
        (select entity_id from entity_alias where namespace = $1 and normalised = u.normalised order by entity_id limit 1)
        union
        (select entity_id from entity_alias where namespace = $1 and normalised = u.normalised order by entity_id desc limit 1)
    ) h
), rooted as materialized (
    select f.n, u.own_id, u.own_root, u.asks_address, coalesce(t.canonical_id, t.entity_id) as root, t.entity_id, t.name, f.is_known_name
    from found f
    join name u on u.n = f.n
    cross join lateral (select * from entity where namespace = $1 and entity_id = f.entity_id offset 0) t
    where t.entity_type = u.entity_type and t.distinguisher <> '?'
)
select r.n, r.root, array_agg(distinct r.name order by r.name) as names, bool_or(r.is_known_name) as is_known_name,
    bool_or(r.asks_address and exists (select from entity_alias a
                    where a.namespace = $1 and a.entity_id = r.entity_id and position('@' in a.normalised) > 1)) as has_address,
    max(c.score) as said_score,
    coalesce(bool_or(c.is_rejected), false) as is_rejected
from rooted r
left join lateral (
    select max(p.score) as score, bool_or(p.state = 'rejected') as is_rejected
    from (values (r.own_id), (nullif(r.own_root, r.own_id))) own (id)
    cross join lateral (
        select score, state from entity_candidate
        where namespace = $1 and low_id = least(own.id, r.root) and high_id = greatest(own.id, r.root)
        offset 0
    ) p
    where own.id is not null
) c on r.own_id is not null
where r.root is distinct from r.own_root
group by r.n, r.root
order by r.n, r.root
