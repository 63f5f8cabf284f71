-- feed::remind: entries for open commitments of texts that are not superseded, where the feed is read: due within $1 hours, or
-- overdue for at most $2 days and not before the feed began. Each once, unless its due time changes. "offset 0": see settle_entities.sql.
with found as materialized (
    select d.*
    from feed_namespace f
    cross join lateral (
        select e.namespace, e.event_id, e.revision_id, e.due_time, k.kind
        from semantic_event e
        cross join lateral (
            select case when e.due_time <= now() then 'commitment.overdue' else 'commitment.due' end as kind
        ) k
        cross join lateral (
            select is_latest from artifact_revision r
            where r.namespace = e.namespace and r.revision_id = e.revision_id
            offset 0
        ) t
        where e.namespace = f.namespace and e.category = 'Commitment' and e.due_time is not null
          and e.due_time > greatest(f.since, now() - make_interval(days => $2))
          and e.due_time <= now() + make_interval(hours => $1)
          and t.is_latest
          and not exists (
              select from feed_reminder r
              where r.namespace = e.namespace and r.event_id = e.event_id and r.kind = k.kind and r.due_time = e.due_time)
          and not exists (
              select from commitment_ending l
              join artifact_revision o on o.namespace = l.namespace and o.revision_id = l.closing_revision
              where l.namespace = e.namespace and l.commitment_id = e.event_id and o.is_latest)
        order by e.due_time
        limit 1000
    ) d
), noted as (
    insert into feed_reminder (namespace, event_id, kind, due_time)
    select namespace, event_id, kind, due_time from found
    on conflict do nothing
    returning namespace, event_id, kind, due_time
)
insert into feed_entry (namespace, kind, revision_id, event_id, details)
select n.namespace, n.kind, f.revision_id, n.event_id, jsonb_build_object('due_time', n.due_time)
from noted n
join found f on f.namespace = n.namespace and f.event_id = n.event_id and f.kind = n.kind
