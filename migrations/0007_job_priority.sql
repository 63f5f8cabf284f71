-- Who goes first, who reads a text again, and what an operator looks for.

-- 0: what someone has just written; 1: a long text; 2: bulk, as of an import. Lanes have shares of a worker's turns; within a
-- lane namespaces take turns, and within a namespace the oldest goes first. Every claim is a look-up in this order.
alter table event_jobs add column lane smallint not null default 0 check (lane between 0 and 2);
drop index event_jobs_due;
create index event_jobs_due on event_jobs (lane, namespace, run_at, job_id) include (kind) where status = 'PENDING';

-- What waits at this moment was not written just now.
update event_jobs set lane = 2 where status = 'PENDING';

-- FAILED jobs are few, and looked for among many; ended ones lie in the table about as they ended.
create index event_jobs_failed on event_jobs (namespace, job_id) include (last_error_code) where status = 'FAILED';
create index event_jobs_conversation on event_jobs (namespace, conversation_id) where conversation_id is not null;
create index event_jobs_ended on event_jobs using brin (finished_at) with (pages_per_range = 16, autosummarize = on);
alter table event_jobs set (autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);

-- A conversation's turn that is to be read again by the next pass over it. What was found in it stays until then.
alter table artifact_revision add column is_extraction_stale boolean not null default false;
