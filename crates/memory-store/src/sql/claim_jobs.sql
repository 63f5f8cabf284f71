-- jobs::claim: jobs whose worker was lost, then due ones by lane, namespace and kind, skipping what others hold.
--
-- $1 how many  $2 lease in seconds  $3 most attempts  $4 whether the claimer has nothing else in hand
-- By lane: $5 how far ahead it is of the others, in seconds by its weight  $6 what a job adds to that  $7 the same where bulk
-- has waited for long  $8 how many seconds a job takes  $9 the namespace last served
-- $10 the lanes that it may take from  $11 the claimer
-- Who is ahead of the others in its lane: $12 the lane  $13 the namespace  $14 the kind of jobs  $15 by how many seconds
with recursive exhausted as (
    update event_jobs j
    set status = 'FAILED', last_error_code = 'WORKER_LOST', last_error_at = now(),
        last_error_message = 'its worker ended ' || j.attempts || ' times without finishing it',
        finished_at = now(), lease_token = null, leased_until = null
    from (
        select namespace, job_id from event_jobs
        where status = 'PROCESSING' and leased_until <= now() and attempts >= $3
        limit 100
        for update skip locked
    ) e
    where j.namespace = e.namespace and j.job_id = e.job_id
), suspect as materialized (
    -- Lost twice: it may be what kills its workers. It is done alone, so that it takes no other job along; until a
    -- claimer has nothing else to do no other is begun.
    select namespace, job_id from event_jobs
    where status = 'PROCESSING' and leased_until <= now() and attempts between 2 and $3 - 1
    order by leased_until
    limit 1
    for update skip locked
), lost as materialized (
    select namespace, job_id from event_jobs
    where status = 'PROCESSING' and leased_until <= now() and attempts < 2 and lane = any($10::smallint[])
      and not exists (select from suspect)
    order by leased_until
    limit $1
    for update skip locked
), ahead as materialized (
    select * from unnest($12::smallint[], $13::text[], $14::text[], $15::float8[]) a (lane, namespace, kind, seconds)
), walk as (
    -- Once around the namespaces of each lane, from the one after that served last, until enough have due jobs and are not
    -- ahead of the others.
    select (l.n - 1)::smallint as lane, 0 as step, l.namespace, l.namespace as start, false as is_round, 0 as found
    from unnest($9::text[]) with ordinality l (namespace, n)
    where (l.n - 1) = any($10::smallint[]) and not exists (select from suspect)
    union all
    select w.lane, w.step + 1, n.namespace, w.start, n.is_round,
        w.found + (exists (select from event_jobs j
                           where j.status = 'PENDING' and j.lane = w.lane and j.namespace = n.namespace
                             and j.run_at <= now())
                   and not exists (select from ahead a where a.lane = w.lane and a.namespace = n.namespace))::int
    from walk w
    cross join lateral (
        select coalesce(o.namespace, r.namespace) as namespace, w.is_round or o.namespace is null as is_round
        from (select (select j.namespace from event_jobs j
                      where j.status = 'PENDING' and j.lane = w.lane and j.namespace > w.namespace
                      order by j.namespace limit 1) as namespace
              offset 0) o
        cross join lateral (
            select case when o.namespace is null and not w.is_round then
                       (select j.namespace from event_jobs j
                        where j.status = 'PENDING' and j.lane = w.lane
                        order by j.namespace limit 1)
                   end as namespace
            offset 0
        ) r
        offset 0
    ) n
    where w.found < 2 * $1 and n.namespace is not null and not (n.is_round and n.namespace > w.start)
), candidate as materialized (
    -- Some more of each than are wanted: others claim at the same time. Where one kind is ahead, others are looked for
    -- behind its jobs.
    select w.lane, w.step, w.namespace, d.run_at, d.job_id, d.turn,
        coalesce(a.seconds, 0) + (d.turn - 1) * ($8::float8[])[w.lane + 1] as ahead
    from (select *, 2 + (4 * $1 + 16) / sharing as wanted
          from (select *, greatest(max(step) over (partition by lane), 1) as sharing from walk) w) w
    cross join lateral (
        select f.*, row_number() over (partition by f.kind order by f.run_at, f.job_id) as turn
        from (
            select j.job_id, j.run_at, j.kind
            from event_jobs j
            where j.status = 'PENDING' and j.lane = w.lane and j.namespace = w.namespace and j.run_at <= now()
            order by j.run_at, j.job_id
            limit case when w.lane in (1, 3)
                            and exists (select from ahead a where a.lane = w.lane and a.namespace = w.namespace)
                       then w.wanted + 1000 / w.sharing else w.wanted end
        ) f
    ) d
    left join ahead a on a.lane = w.lane and a.namespace = w.namespace and a.kind = d.kind
    where w.step > 0 and d.turn <= w.wanted
), age as materialized (
    select exists (select from candidate where lane >= 2 and run_at < now() - interval '1 hour') as has_bulk_aged
), due as materialized (
    -- Looked up and locked one after the other, until there are enough.
    select l.namespace, l.job_id, c.lane, c.nth
    from (
        select o.*,
            ($5::float8[])[o.lane + 1]
                + (o.nth - 1) * (case when age.has_bulk_aged then $7::float8[] else $6::float8[] end)[o.lane + 1] as ahead_of_lanes
        from (select *, row_number() over (partition by lane order by ahead, step, run_at, job_id) as nth from candidate) o
        cross join age
        order by ahead_of_lanes, o.lane, o.nth
    ) c
    cross join lateral (
        select j.namespace, j.job_id
        from event_jobs j
        where j.namespace = c.namespace and j.job_id = c.job_id and j.status = 'PENDING' and j.run_at <= now()
        for update skip locked
    ) l
    limit $1
), taken as materialized (
    select namespace, job_id, null::smallint as lane, null::bigint as nth from suspect where $4
    union all
    select namespace, job_id, null, null from lost
    union all
    select namespace, job_id, lane, nth from due
    limit $1
), claimed as (
    update event_jobs j
    set status = 'PROCESSING', lease_token = gen_random_uuid(), leased_until = now() + make_interval(secs => $2),
        attempts = j.attempts + 1, worker_id = $11
    from taken
    where j.namespace = taken.namespace and j.job_id = taken.job_id
    returning j.namespace, j.job_id, j.kind, j.revision_id, j.conversation_id, j.thread_id, j.attempts, j.lease_token,
        j.lane as own_lane, taken.lane, taken.nth
)
select *, (select has_bulk_aged from age) as has_bulk_aged from claimed order by nth nulls first, job_id
