-- artifacts::insert_revision: a revision with its passages, their vectors and tokens' states, and its jobs.
-- $2 has the columns of the revision by their names; $5 to $13 are those of its passages (PassageColumns).
-- In artifacts::insert_whole the content comes first (insert_content.sql), and nothing without it.
with /*content*/new as (
    select *
    from jsonb_to_record($2) as n (artifact_id text, artifact_uid text, context text, source text, source_id text,
        author text, role text, participants text[], title text, tags text[], importance real, conversation_id text,
        turn_index integer, line_of bigint, line_index integer, line_speaker text, summary text, is_latest boolean, queue_extract boolean, queue_embed boolean, lane smallint)/*of_content*/
), revision as (
    insert into artifact_revision (namespace, artifact_id, artifact_uid, context, source, source_id, author, role,
        participants, date, title, tags, importance, conversation_id, turn_index, line_of, line_index, line_speaker, summary, is_latest,
        created_at, passages)
    select $1, artifact_id, artifact_uid, context, source, source_id, author, role,
        participants, $3, title, tags, importance, conversation_id, turn_index, line_of, line_index, line_speaker, summary, is_latest,
        coalesce($4, now()), cardinality($8::text[])
    from new
    returning revision_id
), passages as (
    insert into passage (namespace, revision_id, artifact_id, ordinal, chunk_index, start_char, end_char, text, lex,
        lex_length, is_latest)
    select $1, r.revision_id, n.artifact_id, u.ordinal - 1, u.chunk_index, u.start_char, u.end_char, u.text,
        u.lex::tsvector, u.lex_length, n.is_latest
    from new n, revision r,
        unnest($5::int[], $6::int[], $7::int[], $8::text[], $9::text[], $10::int[])
            with ordinality u (chunk_index, start_char, end_char, text, lex, lex_length, ordinal)
    returning passage_id, revision_id, ordinal, is_latest
), vectors as (
    insert into passage_embedding (namespace, passage_id, model_id, revision_id, is_latest, embedding)
    select $1, p.passage_id, $14::smallint, p.revision_id, p.is_latest, v.embedding
    from unnest($11::int[], $12::vector[]) v (ordinal, embedding)
    join passages p using (ordinal)
), states as (
    insert into passage_tokens (namespace, passage_id, model_id, states)
    select $1, p.passage_id, $14::smallint, v.states
    from unnest($11::int[], $13::bytea[]) v (ordinal, states)
    join passages p using (ordinal)
    where octet_length(v.states) > 0
), extract_job as (
    insert into event_jobs (namespace, kind, revision_id, lane)
    select $1, 'extract', r.revision_id, n.lane from new n, revision r where n.queue_extract
    returning job_id
), embed_job as (
    insert into event_jobs (namespace, kind, revision_id, lane)
    select $1, 'embed', r.revision_id, n.lane from new n, revision r where n.queue_embed
)
select r.revision_id, j.job_id as extract_job
from revision r
left join extract_job j on true
