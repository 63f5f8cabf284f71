-- expansion::entities_of: the entities of the revisions, after those that the question names ($4). Entities that
-- count as one are one. Under filters only texts in scope count, and no entity is compared with others ($5).
-- "offset 0": see hydrate.sql.
with event as materialized (
    select s.revision_id, e.event_id
    from unnest($2::bigint[]) s (revision_id)
    cross join lateral (select event_id from semantic_event where namespace = $1 and revision_id = s.revision_id offset 0) e
), linked as materialized (
    select m.entity_id, s.revision_id
    from unnest($2::bigint[]) s (revision_id)
    cross join lateral (select entity_id from entity_mention where namespace = $1 and revision_id = s.revision_id offset 0) m
    union
    select a.entity_id, t.revision_id from event t
    cross join lateral (select entity_id from event_actor where namespace = $1 and event_id = t.event_id offset 0) a
    union
    select a.entity_id, t.revision_id from event t
    cross join lateral (select entity_id from event_subject where namespace = $1 and event_id = t.event_id offset 0) a
    union
    select named, null from unnest($4::bigint[]) named
), found as materialized (
    select coalesce(t.canonical_id, t.entity_id) as entity_id, count(distinct l.revision_id) as revisions,
        bool_or(l.revision_id is null) as is_named
    from linked l
    cross join lateral (select entity_id, canonical_id from entity where namespace = $1 and entity_id = l.entity_id offset 0) t
    group by 1
    order by is_named desc, revisions desc, entity_id
    limit $3
)
select t.entity_id, t.name, t.entity_type,
    (select count(*) from entity_mention m where m.namespace = $1 and m.entity_id = found.entity_id/*in_scope(m.revision_id)*/)
        + (select count(*) from entity_mention m where m.namespace = $1 and m.entity_id = any(merged.ids)/*in_scope(m.revision_id)*/)
        as mention_count,
    array(select min(a.alias)
          from (select alias, normalised from entity_alias l
                where l.namespace = $1 and l.entity_id = found.entity_id/*in_scope(l.revision_id)*/
                union all
                select alias, normalised from entity_alias l
                where l.namespace = $1 and l.entity_id = any(merged.ids)/*in_scope(l.revision_id)*/) a
          where a.normalised <> t.normalised group by a.normalised order by 1) as aliases,
    (select coalesce(json_agg(json_build_object('id', s.root, 'name', r.name, 'score', s.score)
                              order by s.score desc, s.root), '[]'::json)
     from (select coalesce(o.canonical_id, o.entity_id) as root, max(p.score) as score
           from (select high_id as other, score, state from entity_candidate
                 where namespace = $1 and low_id = any(merged.ids || found.entity_id)
                 union all
                 select low_id, score, state from entity_candidate
                 where namespace = $1 and high_id = any(merged.ids || found.entity_id)
                 limit 100) p
           cross join lateral (select entity_id, canonical_id from entity where namespace = $1 and entity_id = p.other offset 0) o
           where not $5 and p.state = 'open' and coalesce(o.canonical_id, o.entity_id) <> found.entity_id
           group by 1
           order by score desc, root
           limit 4) s
     cross join lateral (select name from entity where namespace = $1 and entity_id = s.root offset 0) r) as possibly_same
from found
cross join lateral (select * from entity where namespace = $1 and entity_id = found.entity_id offset 0) t
cross join lateral (
    select array(select entity_id from entity where namespace = $1 and canonical_id = found.entity_id) as ids offset 0
) merged
order by found.is_named desc, found.revisions desc, mention_count desc, t.name, t.entity_type
