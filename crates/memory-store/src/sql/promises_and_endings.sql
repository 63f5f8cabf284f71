-- lifecycle::matters: of each owner ($2, with what counts as the same) the promises and what may end them, as far as the
-- events $3 have to do with them: of these the endings among them, and, newest promises and oldest endings first, what
-- they meet. At most $4 promises and $5 endings an entity. Where they stand is only asked in the revisions $6, within which
-- it decides what came first. «offset 0»: see hydrate.sql.
with root as materialized (
    select distinct coalesce(t.canonical_id, t.entity_id) as root
    from unnest($2::bigint[]) o (entity_id)
    cross join lateral (select entity_id, canonical_id from entity where namespace = $1 and entity_id = o.entity_id offset 0) t
), member as materialized (
    select root, root as entity_id from root
    union all
    select r.root, m.entity_id from root r
    cross join lateral (select entity_id from entity where namespace = $1 and canonical_id = r.root order by entity_id limit 8) m
), fresh as materialized (
    select m.root, a.entity_id, a.event_id, a.category, a.occurred_at
    from unnest($3::text[]) e (event_id)
    cross join lateral (
        select entity_id, event_id, category, occurred_at from event_actor
        where namespace = $1 and event_id = e.event_id and role = 'owner'
            and category in ('Commitment', 'Execution', 'Change')
        offset 0
    ) a
    join member m on m.entity_id = a.entity_id
), since as materialized (
    select root, min(occurred_at) filter (where category = 'Commitment') as first_promise from fresh group by root
), ending as materialized (
    select root, entity_id, event_id, occurred_at from fresh where category <> 'Commitment'
    union
    select m.root, m.entity_id, a.event_id, a.occurred_at
    from since s
    join member m on m.root = s.root
    cross join lateral (
        select event_id, occurred_at from event_actor
        where namespace = $1 and entity_id = m.entity_id and role = 'owner' and category in ('Execution', 'Change')
            and occurred_at >= s.first_promise - interval '1 day'
        order by occurred_at
        limit $5
    ) a
), until as materialized (
    select root, max(occurred_at) as last_ending from ending group by root
), promise as materialized (
    select f.root, f.entity_id, f.event_id from fresh f join until u on u.root = f.root where f.category = 'Commitment'
    union
    select m.root, m.entity_id, a.event_id
    from until u
    join member m on m.root = u.root
    cross join lateral (
        select event_id from event_actor
        where namespace = $1 and entity_id = m.entity_id and role = 'owner' and category = 'Commitment'
            and occurred_at <= u.last_ending + interval '1 day'
        order by occurred_at desc
        limit $4
    ) a
), wanted as materialized (
    select root, entity_id, event_id, true as is_promise from promise
    union all
    select e.root, e.entity_id, e.event_id, false from ending e
    where exists (select from promise p where p.root = e.root)
)
select w.root, w.entity_id as owner, w.event_id, w.is_promise, e.category, e.narrative, e.matter, e.revision_id,
    coalesce(e.event_time, r.said_at) as occurred_at, r.said_at, r.conversation_id, r.turn_index,
    case when e.revision_id = any($6) then coalesce(
        (select start_char from event_evidence where namespace = $1 and event_id = w.event_id order by ordinal limit 1), 0)
    else 0 end as start_char
from wanted w
cross join lateral (
    select category, narrative, matter, revision_id, event_time from semantic_event
    where namespace = $1 and event_id = w.event_id
    offset 0
) e
cross join lateral (
    select coalesce(date, created_at) as said_at, conversation_id, turn_index from artifact_revision
    where namespace = $1 and revision_id = e.revision_id
    offset 0
) r
order by w.root, r.said_at, e.revision_id, start_char, w.event_id
