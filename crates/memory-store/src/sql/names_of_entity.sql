-- names: the other names of the entity `t` and of what counts as it, at most 50, from one to the next in the index: it has a row
-- for each text that names it. `$1` is the namespace.
with recursive own as (
    select t.entity_id as member
    union all
    select s.entity_id from entity s where s.namespace = $1 and s.canonical_id = t.entity_id
), named (member, normalised, alias) as (
    select o.member, f.normalised, f.alias
    from own o
    cross join lateral (select normalised, alias from entity_alias
                        where namespace = $1 and entity_id = o.member
                        order by normalised, revision_id limit 1) f
    union all
    select n.member, f.normalised, f.alias
    from named n
    cross join lateral (select normalised, alias from entity_alias
                        where namespace = $1 and entity_id = n.member and normalised > n.normalised
                        order by normalised, revision_id limit 1) f
)
select min(n.alias) from named n where n.normalised <> t.normalised group by n.normalised order by 1 limit 50
