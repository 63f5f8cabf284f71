-- open_commitments: what stands open in latest texts of the projects and of none, or of all where none is named. The latest overdue
-- and the next due come first; what is overdue for long is counted.
with ended as materialized (
    select distinct l.commitment_id from commitment_ending l
    where l.namespace = $1
      and not exists (select from artifact_revision o
                      where o.namespace = $1 and o.revision_id = l.closing_revision and not o.is_latest)
), standing as materialized (
    select e.event_id, e.revision_id, e.due_time,
           case when e.due_time < $3 then 'long_overdue' when e.due_time < $2 then 'overdue' else 'open' end as state
    from semantic_event e
    where e.namespace = $1 and e.category = 'Commitment'
      and not exists (select from ended where commitment_id = e.event_id)
      and not exists (select from artifact_revision o
                      where o.namespace = $1 and o.revision_id = e.revision_id and not o.is_latest)
      and (cardinality($4::text[]) = 0
           or exists (select from artifact_revision r
                      where r.namespace = $1 and r.revision_id = e.revision_id
                        and (r.folded_tags && (select folded($4::text[]))
                             or not exists (select from unnest(r.folded_tags) tag where starts_with(tag, $5)))))
), totals as (
    select count(*) filter (where state = 'overdue') as overdue_total,
           count(*) filter (where state = 'long_overdue') as long_overdue_total,
           count(*) filter (where state = 'open') as open_total
    from standing
), listed as (
    (select *, row_number() over (order by due_time desc, event_id) as place
     from standing where state = 'overdue'
     order by due_time desc, event_id
     limit $6)
    union all
    (select *, row_number() over (order by due_time nulls last, revision_id desc, event_id) as place
     from standing where state = 'open'
     order by due_time nulls last, revision_id desc, event_id
     limit $6)
)
select t.overdue_total, t.long_overdue_total, t.open_total, l.state, e.event_id, e.narrative,
       coalesce(e.event_time, r.date, r.created_at) as at, e.due_time, e.artifact_id,
       coalesce(r.date, r.created_at) as said_at, r.conversation_id, r.turn_index
from totals t
left join (listed l
           join semantic_event e on e.namespace = $1 and e.event_id = l.event_id
           join artifact_revision r on r.namespace = $1 and r.revision_id = l.revision_id) on true
order by l.state, l.place
