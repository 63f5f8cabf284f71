-- A language model that cannot be reached is told apart from one that is slow.
alter table event_jobs drop constraint event_jobs_last_error_code_check;
alter table event_jobs add constraint event_jobs_last_error_code_check
    check (last_error_code in ('LLM_TIMEOUT', 'LLM_RATE_LIMITED', 'LLM_BAD_OUTPUT', 'LLM_REFUSED', 'LLM_AUTH',
        'LLM_UNAVAILABLE', 'EMBEDDING_UNAVAILABLE', 'SOURCE_MISSING', 'WORKER_LOST', 'CANCELLED', 'INTERNAL'));
