-- portrait::portrait: an entity with what is said of it and of what counts as it.
with member as materialized (
    select $2::bigint as entity_id
    union all
    select entity_id from entity where namespace = $1 and canonical_id = $2
), seen as materialized (
    select r.revision_id, count(*) as mentions, max(coalesce(r.date, r.created_at)) as at
    from member m
    join entity_mention e on e.namespace = $1 and e.entity_id = m.entity_id
    join artifact_revision r on r.namespace = $1 and r.revision_id = e.revision_id
    group by 1
)
select t.entity_id, t.name, t.entity_type, t.canonical_id,
    array(/*names*/) as aliases,
    (select coalesce(json_agg(json_build_object('id', s.entity_id, 'name', s.name, 'into', s.merged_into)
                              order by s.entity_id), '[]'::json)
     from entity s where s.namespace = $1 and s.canonical_id = t.entity_id) as merged,
    (select coalesce(json_agg(json_build_object('id', r.entity_id, 'name', r.name, 'score', round(c.score::numeric, 2),
                                                'reasons', c.reasons)
                              order by c.score desc, r.entity_id), '[]'::json)
     from (select high_id as other, score, reasons from entity_candidate
           where namespace = $1 and low_id = t.entity_id and state = 'open'
           union all
           select low_id, score, reasons from entity_candidate
           where namespace = $1 and high_id = t.entity_id and state = 'open') c
     join entity o on o.namespace = $1 and o.entity_id = c.other
     join entity r on r.namespace = $1 and r.entity_id = coalesce(o.canonical_id, o.entity_id)
     where r.entity_id <> t.entity_id) as possibly_same,
    (select coalesce(sum(mentions), 0)::bigint from seen) as mentions,
    (select count(*) from seen) as texts,
    (select min(at) from seen) as first_seen,
    (select max(at) from seen) as last_seen
from entity t
where t.namespace = $1 and t.entity_id = $2
