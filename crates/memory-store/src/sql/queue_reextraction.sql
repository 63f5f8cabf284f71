-- reextraction::queue_batch: the next latest revisions that are meant, each with a job of its own or marked for its
-- conversation's. What waits or is being done is left alone.
with chosen as materialized (
    select r.revision_id, r.conversation_id, r.passages, r.extracted_at is null or r.is_extraction_stale as is_unread,
        r.conversation_id is not null and r.turn_index is not null and a.token_count < $9 as is_short_turn
    from artifact_revision r
    join artifact a on a.namespace = r.namespace and a.artifact_id = r.artifact_id
    where r.namespace = $1 and r.revision_id > $2 and r.is_latest
      and ($3 or (r.extractor, r.extractor_version) is distinct from ($4, $5))
      and ($6::int is null or r.extractor_version < $6)
      and ($7::text is null or r.extractor = $7)
      and ($8::text is null or r.context = $8)
    order by r.revision_id
    limit $10
), open as materialized (
    select c.revision_id, j.status
    from chosen c
    join event_jobs j on j.namespace = $1 and j.revision_id = c.revision_id and j.kind = 'extract'
        and j.status in ('PENDING', 'PROCESSING')
), queued as (
    insert into event_jobs (namespace, kind, revision_id, lane)
    select $1, 'extract', c.revision_id, case when c.passages > 32 then 3 else 2 end
    from chosen c
    where not c.is_short_turn and not exists (select from open o where o.revision_id = c.revision_id)
    on conflict do nothing
    returning job_id
), marked as (
    update artifact_revision r
    set is_extraction_stale = true
    from chosen c
    where c.is_short_turn and not c.is_unread and r.namespace = $1 and r.revision_id = c.revision_id
    returning r.revision_id
)
select (select max(revision_id) from chosen) as last_revision,
    array(select job_id from queued order by job_id) as jobs,
    (select count(*) from marked) as turns,
    (select count(*) from open where status = 'PENDING')
        + (select count(*) from chosen where is_short_turn and is_unread) as waiting,
    (select count(*) from open where status = 'PROCESSING') as running,
    array(select distinct conversation_id from chosen where is_short_turn order by 1) as conversations
