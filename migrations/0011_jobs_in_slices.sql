-- Jobs that say why they wait, that go on in slices, and that know who does them.

-- Lanes 1 and 3 are long texts: someone's, and those of an import. A worker keeps one of its places free of them.
alter table event_jobs
    drop constraint event_jobs_lane_check,
    add constraint event_jobs_lane_check check (lane between 0 and 3),
    drop constraint event_jobs_last_error_code_check,
    add constraint event_jobs_last_error_code_check
        check (last_error_code in ('LLM_TIMEOUT', 'LLM_RATE_LIMITED', 'LLM_BAD_OUTPUT', 'LLM_REFUSED', 'LLM_AUTH',
            'LLM_UNAVAILABLE', 'EMBEDDING_UNAVAILABLE', 'SOURCE_MISSING', 'WORKER_LOST', 'TIMED_OUT', 'DISK_FULL',
            'CANCELLED', 'INTERNAL')),
    -- Why the last attempt failed, in words; never content.
    add column last_error_message text check (char_length(last_error_message) <= 500),
    add column last_error_at timestamptz,
    -- Who claimed it last.
    add column worker_id uuid;

update event_jobs j
set lane = 3
from artifact_revision r
where j.status = 'PENDING' and j.lane = 2 and r.namespace = j.namespace and r.revision_id = j.revision_id
  and r.passages > 32;
