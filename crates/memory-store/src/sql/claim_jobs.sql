-- jobs::claim: jobs whose worker was lost, then due ones by lane and namespace, skipping what others hold.
--
-- $1 how many  $2 lease in seconds  $3 most attempts  $4 whether the claimer has nothing else in hand
-- $5 the lanes of its next turns  $6 the same where bulk has waited for long  $7 the namespace last served, by lane
-- $8 the lanes that it may take from  $9 the claimer
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
    where status = 'PROCESSING' and leased_until <= now() and attempts < 2 and lane = any($8::smallint[])
      and not exists (select from suspect)
    order by leased_until
    limit $1
    for update skip locked
), walk as (
    -- Once around the namespaces of each lane, from the one after that served last, until enough have due jobs.
    select (l.n - 1)::smallint as lane, 0 as step, l.namespace, l.namespace as start, false as is_round, 0 as found
    from unnest($7::text[]) with ordinality l (namespace, n)
    where (l.n - 1) = any($8::smallint[]) and not exists (select from suspect)
    union all
    select w.lane, w.step + 1, n.namespace, w.start, n.is_round,
        w.found + (exists (select from event_jobs j
                           where j.status = 'PENDING' and j.lane = w.lane and j.namespace = n.namespace
                             and j.run_at <= now()))::int
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
    -- Some more of each than are wanted: others claim at the same time.
    select w.lane, w.step, w.namespace, d.run_at, d.job_id, d.turn
    from (select *, max(found) over (partition by lane) as sharing from walk) w
    cross join lateral (
        select j.job_id, j.run_at, row_number() over (order by j.run_at, j.job_id) as turn
        from event_jobs j
        where j.status = 'PENDING' and j.lane = w.lane and j.namespace = w.namespace and j.run_at <= now()
        order by j.run_at, j.job_id
        limit greatest(2, (4 * $1 + 16) / greatest(w.sharing, 1))
    ) d
    where w.step > 0
), turn as (
    select s.lane, s.place, row_number() over (partition by s.lane order by s.place) as nth
    from unnest(
        case when exists (select from candidate where lane >= 2 and run_at < now() - interval '1 hour') then $6 else $5 end::smallint[]
    ) with ordinality s (lane, place)
), due as materialized (
    -- Looked up and locked one after the other, until there are enough.
    select l.namespace, l.job_id, c.lane, c.nth
    from (
        select c.*
        from (select *, row_number() over (partition by lane order by turn, step) as nth from candidate) c
        left join turn t on t.lane = c.lane and t.nth = c.nth
        order by t.place nulls last, c.lane, c.nth
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
        attempts = j.attempts + 1, worker_id = $9
    from taken
    where j.namespace = taken.namespace and j.job_id = taken.job_id
    returning j.namespace, j.job_id, j.kind, j.revision_id, j.conversation_id, j.thread_id, j.attempts, j.lease_token,
        j.lane as own_lane, taken.lane, taken.nth
)
select * from claimed order by nth nulls first, job_id
