-- expansion::entities_of: who and what the revisions are about.
with found as materialized (
    select entity_id, count(distinct revision_id) as revisions
    from (
        select m.entity_id, m.revision_id from entity_mention m
        where m.namespace = $1 and m.revision_id = any($2)
        union all
        select a.entity_id, e.revision_id
        from semantic_event e join event_actor a on a.namespace = $1 and a.event_id = e.event_id
        where e.namespace = $1 and e.revision_id = any($2)
        union all
        select s.entity_id, e.revision_id
        from semantic_event e join event_subject s on s.namespace = $1 and s.event_id = e.event_id
        where e.namespace = $1 and e.revision_id = any($2)
    ) linked
    group by entity_id
    order by revisions desc, entity_id
    limit $3
)
select t.name, t.entity_type,
    (select count(*) from entity_mention m where m.namespace = $1 and m.entity_id = t.entity_id) as mention_count,
    array(select min(a.alias) from entity_alias a
          where a.namespace = $1 and a.entity_id = t.entity_id group by a.normalised order by 1) as aliases
from found
join entity t on t.namespace = $1 and t.entity_id = found.entity_id
order by found.revisions desc, mention_count desc, t.name, t.entity_type
