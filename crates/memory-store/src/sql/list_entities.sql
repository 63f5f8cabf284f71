-- review::list: entities that are not merged into another, those that are mentioned most first, with what is merged into them.
-- $2 a type, $3 a part of a name in lower case; each null for all.
with matching as materialized (
    select coalesce(t.canonical_id, t.entity_id) as root
    from entity t
    where t.namespace = $1
        and ($2::text is null or t.entity_type = $2)
        and ($3::text is null or position($3 in t.normalised) > 0
             or exists (select from entity_alias a
                        where a.namespace = $1 and a.entity_id = t.entity_id and position($3 in a.normalised) > 0))
    group by 1
), mentioned as materialized (
    select entity_id, count(*) as mentions from entity_mention where namespace = $1 group by entity_id
), counted as materialized (
    select m.root,
        -- Only where others are merged into it may two of its mentions be of the same words.
        case when exists (select from entity s where s.namespace = $1 and s.canonical_id = m.root)
             then (select count(*) from (
                       select distinct e.revision_id, e.start_char, e.end_char from entity_mention e
                       where e.namespace = $1 and e.entity_id in (
                           select m.root
                           union all
                           select s.entity_id from entity s where s.namespace = $1 and s.canonical_id = m.root)) mentions)
             else coalesce(n.mentions, 0) end as mention_count,
        count(*) over () as total
    from matching m left join mentioned n on n.entity_id = m.root
)
select c.total, t.entity_id, t.name, t.entity_type, c.mention_count,
    -- From one name to the next in the index: an entity has a row for each text that names it.
    array(with recursive own as materialized (
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
          select min(n.alias) from named n where n.normalised <> t.normalised
          group by n.normalised order by 1 limit 20) as aliases,
    (select coalesce(json_agg(json_build_object('id', s.entity_id, 'name', s.name, 'into', s.merged_into)
                              order by s.entity_id), '[]'::json)
     from entity s where s.namespace = $1 and s.canonical_id = t.entity_id) as merged,
    (select coalesce(json_agg(json_build_object('id', other.root, 'name', r.name, 'score', round(other.score::numeric, 2),
                                                'reasons', other.reasons)
                              order by other.score desc, other.root), '[]'::json)
     from (select distinct on (root) coalesce(o.canonical_id, o.entity_id) as root, p.score, p.reasons
           from (select t.entity_id as member
                 union all
                 select s.entity_id from entity s where s.namespace = $1 and s.canonical_id = t.entity_id) own
           cross join lateral (
               select high_id as other, score, reasons from entity_candidate
               where namespace = $1 and low_id = own.member and state = 'open'
               union all
               select low_id, score, reasons from entity_candidate
               where namespace = $1 and high_id = own.member and state = 'open'
           ) p
           join entity o on o.namespace = $1 and o.entity_id = p.other
           order by root, p.score desc) other
     join entity r on r.namespace = $1 and r.entity_id = other.root
     where other.root <> t.entity_id) as possibly_same
from counted c
join entity t on t.namespace = $1 and t.entity_id = c.root
order by c.mention_count desc, t.name, t.entity_id
limit $4
