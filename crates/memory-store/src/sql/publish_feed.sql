-- feed::publish: $1 entries at most get their numbers, each namespace counting on from its last, and a delivery for each webhook
-- that wants their kind. Those of namespaces that are read no more stay without a number until they are swept.
with waiting as materialized (
    select e.namespace, e.entry_id, e.kind, f.last_seq + row_number() over (partition by e.namespace order by e.entry_id) as seq
    from (select namespace, entry_id, kind from feed_entry where seq is null order by entry_id limit $1) e
    join feed_namespace f on f.namespace = e.namespace
), counted as (
    update feed_namespace f set last_seq = w.seq
    from (select namespace, max(seq) as seq from waiting group by namespace) w
    where f.namespace = w.namespace
), queued as (
    insert into webhook_delivery (namespace, webhook_id, entry_id)
    select w.namespace, h.webhook_id, w.entry_id
    from waiting w
    join webhook h on h.namespace = w.namespace and (h.kinds = '{}' or w.kind = any(h.kinds))
    order by w.entry_id
    on conflict do nothing
)
update feed_entry e set seq = w.seq
from waiting w
where e.namespace = w.namespace and e.entry_id = w.entry_id
