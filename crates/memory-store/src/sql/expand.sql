-- expansion::related_events: other events of the entities that act in, or are the matter of, the hits' events, and of
-- those that the question names ($6): how common these are counts nothing. Entities that count as one are one.
-- Each entity brings some of its newest events a kind, more than can be shown but at most 100 (of the categories asked for, or
-- of texts in scope, among its newest $7), so a hub costs what any other entity costs; its weight is divided by ln(2 + how many events it has),
-- counted up to 100. "offset 0": see hydrate.sql.
with seed_event as materialized (
    select e.event_id
    from unnest($2::bigint[]) s (revision_id)
    cross join lateral (select event_id from semantic_event where namespace = $1 and revision_id = s.revision_id offset 0) e
), linked as materialized (
    select a.entity_id, count(*) as links
    from seed_event s
    cross join lateral (
        select entity_id from event_actor where namespace = $1 and event_id = s.event_id
        union all
        select entity_id from event_subject where namespace = $1 and event_id = s.event_id
        offset 0
    ) a
    group by a.entity_id
), seed_entity as materialized (
    select coalesce(t.canonical_id, t.entity_id) as entity_id, sum(l.links) as links, bool_or(l.is_named) as is_named
    from (select entity_id, links, false as is_named from linked
          union all
          select named, 0, true from unnest($6::bigint[]) named) l
    cross join lateral (select entity_id, canonical_id from entity where namespace = $1 and entity_id = l.entity_id offset 0) t
    group by 1
    order by is_named desc, links desc, entity_id
    limit 40
), member as materialized (
    select s.entity_id as root, s.entity_id, s.is_named from seed_entity s
    union all
    select s.entity_id, m.entity_id, s.is_named from seed_entity s
    cross join lateral (select entity_id from entity where namespace = $1 and canonical_id = s.entity_id order by entity_id limit 8) m
), weighted as materialized (
    select m.entity_id, m.root,
        case when m.is_named then 1 else 1 / ln(2 + sum(actors.events + subjects.events) over (partition by m.root)) end as weight
    from member m,
        lateral (select count(*)::float8 as events
                 from (select from event_actor a where a.namespace = $1 and a.entity_id = m.entity_id limit 100) c) actors,
        lateral (select count(*)::float8 as events
                 from (select from event_subject a where a.namespace = $1 and a.entity_id = m.entity_id limit 100) c) subjects
), candidate as materialized (
    select newest.event_id, w.root as entity_id, k.as_actor, k.weight * w.weight as weight, newest.occurred_at
    from weighted w
    cross join (values (true, 2), (false, 1)) k (as_actor, weight)
    cross join lateral (
        select a.event_id, a.occurred_at
        from (
            (select event_id, occurred_at, category from event_actor
             where k.as_actor and namespace = $1 and entity_id = w.entity_id
             order by occurred_at desc, event_id
             limit $7)
            union all
            (select event_id, occurred_at, category from event_subject
             where not k.as_actor and namespace = $1 and entity_id = w.entity_id
             order by occurred_at desc, event_id
             limit $7)
        ) a
        where (cardinality($3::text[]) = 0 or a.category = any($3))/*in_scope(a.event_id)*/
        order by a.occurred_at desc, a.event_id
        limit least(100, 10 + 2 * $5)
    ) newest
), ranked as materialized (
    select event_id, sum(weight) as score, max(occurred_at) as occurred_at,
        (array_agg(entity_id order by as_actor desc, weight desc, entity_id))[1] as by_entity,
        bool_or(as_actor) as as_actor
    from candidate
    where event_id not in (select event_id from seed_event)
    group by event_id
    order by score desc, occurred_at desc, event_id
)
select json_build_object(
    /*event*/,
    'reason', case when c.as_actor then 'same_actor:' else 'same_subject:' end
        || (select t.name from entity t where t.namespace = $1 and t.entity_id = c.by_entity)
)
from (
    select c.*
    from ranked c
    cross join lateral (select revision_id from semantic_event
                        where namespace = $1 and event_id = c.event_id offset 0) e
    cross join lateral (select is_latest from artifact_revision
                        where namespace = $1 and revision_id = e.revision_id offset 0) r
    where r.is_latest or $4
    order by c.score desc, c.occurred_at desc, c.event_id
    limit $5
) c
cross join lateral (select * from semantic_event where namespace = $1 and event_id = c.event_id offset 0) e
order by c.score desc, c.occurred_at desc, c.event_id
