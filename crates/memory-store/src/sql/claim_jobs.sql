-- jobs::claim: due jobs and expired leases, skipping what others hold.
with lost as materialized (
    select namespace, job_id from event_jobs
    where status = 'PROCESSING' and leased_until <= now()
    order by leased_until
    limit $1
    for update skip locked
), due as materialized (
    select namespace, job_id from event_jobs
    where status = 'PENDING' and run_at <= now()
    order by run_at
    limit $1
    for update skip locked
), taken as materialized (
    select namespace, job_id from lost
    union all
    select namespace, job_id from due
    limit $1
), claimed as (
    update event_jobs j
    set status = case when j.attempts >= $3 then 'FAILED' else 'PROCESSING' end,
        last_error_code = case when j.attempts >= $3 then 'WORKER_LOST' else j.last_error_code end,
        finished_at = case when j.attempts >= $3 then now() end,
        lease_token = case when j.attempts >= $3 then null else gen_random_uuid() end,
        leased_until = case when j.attempts >= $3 then null else now() + make_interval(secs => $2) end,
        attempts = case when j.attempts >= $3 then j.attempts else j.attempts + 1 end
    from taken
    where j.namespace = taken.namespace and j.job_id = taken.job_id
    returning j.namespace, j.job_id, j.kind, j.revision_id, j.conversation_id, j.attempts, j.lease_token, j.status
)
select * from claimed where status = 'PROCESSING' order by job_id
