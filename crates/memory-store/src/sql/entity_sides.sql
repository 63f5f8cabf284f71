-- portrait::sides: of each of the entities ($2) what tells it from another: its names, when it was last named, whom it has to do with
-- in its newest events ($3), the newest of these ($4), and the words around the newest of its mentions ($5), of texts that are not long.
with member as materialized (
    select u.id as root, u.id as entity_id from unnest($2::bigint[]) u (id)
    union all
    select canonical_id, entity_id from entity where namespace = $1 and canonical_id = any($2)
), own as materialized (
    select m.root, l.event_id, max(l.occurred_at) as at
    from member m
    cross join lateral (
        (select event_id, occurred_at from event_actor where namespace = $1 and entity_id = m.entity_id
         order by occurred_at desc limit $3)
        union all
        (select event_id, occurred_at from event_subject where namespace = $1 and entity_id = m.entity_id
         order by occurred_at desc limit $3)
    ) l
    group by 1, 2
)
select t.entity_id, t.name,
    array(/*names*/) as aliases,
    (select max(n.at) from (select entity_id from member where root = t.entity_id) m
     cross join lateral (
         select coalesce(r.date, r.created_at) as at
         from (select revision_id from entity_mention where namespace = $1 and entity_id = m.entity_id
               order by revision_id desc limit 1) e
         cross join lateral (select date, created_at from artifact_revision
                             where namespace = $1 and revision_id = e.revision_id offset 0) r
     ) n) as last_seen,
    array(select r.name
          from (select event_id from own where root = t.entity_id) o
          cross join lateral (
              select entity_id from event_actor where namespace = $1 and event_id = o.event_id
              union
              select entity_id from event_subject where namespace = $1 and event_id = o.event_id
          ) p
          cross join lateral (select coalesce(canonical_id, entity_id) as root from entity
                              where namespace = $1 and entity_id = p.entity_id offset 0) q
          cross join lateral (select entity_id, name from entity where namespace = $1 and entity_id = q.root offset 0) r
          where r.entity_id <> t.entity_id
          group by r.entity_id, r.name
          order by count(*) desc, r.name
          limit 6) as companions,
    (select coalesce(json_agg(json_build_object('artifact_id', x.artifact_id, 'text', x.narrative)), '[]'::json)
     from (select event_id from own where root = t.entity_id order by at desc, event_id limit $4) o
     cross join lateral (select artifact_id, narrative from semantic_event
                         where namespace = $1 and event_id = o.event_id offset 0) x) as events,
    (select coalesce(json_agg(json_build_object('artifact_id', x.artifact_id, 'text', x.words)), '[]'::json)
     from (select e.artifact_id, e.start_char from (select entity_id from member where root = t.entity_id) m
           cross join lateral (select artifact_id, revision_id, start_char from entity_mention
                               where namespace = $1 and entity_id = m.entity_id order by revision_id desc limit $5) e
           order by e.revision_id desc limit $5) e
     cross join lateral (
         select artifact_id,
             -- From a whole word on.
             case when e.start_char > 60 then '… ' || regexp_replace(substr(content, e.start_char - 60, 170), '^\S*\s+', '')
                  else substr(content, 1, 170) end as words
         from artifact
         where namespace = $1 and artifact_id = e.artifact_id and char_count <= 100000 offset 0
     ) x) as mentions
from unnest($2::bigint[]) u (entity_id)
cross join lateral (select * from entity where namespace = $1 and entity_id = u.entity_id offset 0) t
