-- jobs::claim: expired leases, then due jobs in turn over the namespaces, skipping what others hold. Within a
-- namespace the oldest goes first; a bulk of one namespace takes one turn in each round like everyone.
with recursive waiting as (
    (select namespace from event_jobs where status = 'PENDING' order by namespace limit 1)
    union all
    select (select j.namespace from event_jobs j
            where j.status = 'PENDING' and j.namespace > w.namespace order by j.namespace limit 1)
    from waiting w
    where w.namespace is not null
), candidate as materialized (
    select w.namespace, d.job_id, d.run_at, d.turn
    from waiting w
    cross join lateral (
        select j.job_id, j.run_at, row_number() over (order by j.run_at, j.job_id) as turn
        from event_jobs j
        where j.namespace = w.namespace and j.status = 'PENDING' and j.run_at <= now()
        order by j.run_at, j.job_id
        limit $1 * 4
    ) d
    where w.namespace is not null
), lost as materialized (
    select namespace, job_id from event_jobs
    where status = 'PROCESSING' and leased_until <= now()
    order by leased_until
    limit $1
    for update skip locked
), due as materialized (
    select j.namespace, j.job_id
    from candidate c
    join event_jobs j on j.namespace = c.namespace and j.job_id = c.job_id
    where j.status = 'PENDING' and j.run_at <= now()
    order by c.turn, c.run_at, j.job_id
    limit $1
    for update of j skip locked
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
    returning j.namespace, j.job_id, j.kind, j.revision_id, j.conversation_id, j.thread_id, j.attempts, j.lease_token, j.status
)
select * from claimed where status = 'PROCESSING' order by job_id
