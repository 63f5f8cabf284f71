-- review::list: entities that are not merged into another, those that are mentioned most first, with what is merged into them.
-- $2 a type, $3 a part of a name in lower case; each null for all. `ranked` is one of rank_entities.sql and rank_newest_entities.sql.
/*ranked*/, counted as materialized (
    select r.root, r.total,
        case when r.has_merged
             then (select count(*) from (
                       select distinct e.revision_id, e.start_char, e.end_char from entity_mention e
                       where e.namespace = $1 and e.entity_id in (
                           select r.root
                           union all
                           select s.entity_id from entity s where s.namespace = $1 and s.canonical_id = r.root)) mentions)
             else r.mentions end as mention_count
    from ranked r
)
select c.total, t.entity_id, t.name, t.entity_type, c.mention_count,
    array(/*names*/) as aliases,
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
