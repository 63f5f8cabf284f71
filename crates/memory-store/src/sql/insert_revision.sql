-- artifacts::insert_revision: a revision with its passages, their vectors and tokens' states, and its jobs.
with revision as (
    insert into artifact_revision (namespace, artifact_id, artifact_uid, context, source, source_id, author, role,
        participants, date, title, tags, importance, conversation_id, turn_index, summary, is_latest, created_at,
        passages)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $28, coalesce($29, now()),
        cardinality($20::text[]))
    returning revision_id
), passages as (
    insert into passage (namespace, revision_id, artifact_id, ordinal, chunk_index, start_char, end_char, text, lex,
        lex_length, is_latest)
    select $1, r.revision_id, $2, u.ordinal - 1, u.chunk_index, u.start_char, u.end_char, u.text, u.lex::tsvector,
        u.lex_length, $28
    from revision r,
        unnest($17::int[], $18::int[], $19::int[], $20::text[], $21::text[], $22::int[])
            with ordinality u (chunk_index, start_char, end_char, text, lex, lex_length, ordinal)
    returning passage_id, revision_id, ordinal
), vectors as (
    insert into passage_embedding (namespace, passage_id, model_id, revision_id, is_latest, embedding)
    select $1, p.passage_id, $23::smallint, p.revision_id, $28, v.embedding
    from unnest($24::int[], $25::vector[]) v (ordinal, embedding)
    join passages p using (ordinal)
), states as (
    insert into passage_tokens (namespace, passage_id, model_id, states)
    select $1, p.passage_id, $23::smallint, v.states
    from unnest($24::int[], $30::bytea[]) v (ordinal, states)
    join passages p using (ordinal)
    where octet_length(v.states) > 0
), extract_job as (
    insert into event_jobs (namespace, kind, revision_id, lane)
    select $1, 'extract', revision_id, $31 from revision where $26
    returning job_id
), embed_job as (
    insert into event_jobs (namespace, kind, revision_id, lane)
    select $1, 'embed', revision_id, $31 from revision where $27
)
select r.revision_id, j.job_id as extract_job
from revision r
left join extract_job j on true
