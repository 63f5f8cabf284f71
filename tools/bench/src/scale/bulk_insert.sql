-- bulk::insert: many short texts, each with one passage and its vector.
with note as materialized (
    select *
    from unnest($2::text[], $3::bytea[], $4::text[], $5::int[], $6::text[], $7::text[], $8::text[], $9::timestamptz[],
            $10::real[], $11::text[], $12::text[], $13::text[], $14::int[], $15::int[], $16::int[], $17::vector[],
            $19::bytea[])
        u (artifact_id, sha256, content, token_count, artifact_uid, context, author, date, importance, summary, text, lex,
            lex_length, start_char, end_char, embedding, states)
), artifacts as (
    insert into artifact (namespace, artifact_id, sha256, content, char_count, token_count)
    select $1, artifact_id, sha256, content, char_length(content), token_count from note
), revisions as (
    insert into artifact_revision (namespace, artifact_id, artifact_uid, context, author, date, importance, summary)
    select $1, artifact_id, artifact_uid, context, author, date, importance, summary from note
    returning revision_id, artifact_id
), passages as (
    insert into passage (namespace, revision_id, artifact_id, ordinal, start_char, end_char, text, lex, lex_length,
        is_latest)
    select $1, r.revision_id, n.artifact_id, 0, n.start_char, n.end_char, n.text, n.lex::tsvector, n.lex_length, true
    from note n
    join revisions r using (artifact_id)
    returning passage_id, revision_id, artifact_id
), tokens as (
    insert into passage_tokens (namespace, passage_id, model_id, states)
    select $1, p.passage_id, $18::smallint, n.states
    from passages p
    join note n using (artifact_id)
    where octet_length(n.states) > 0
)
insert into passage_embedding (namespace, passage_id, model_id, revision_id, is_latest, embedding)
select $1, p.passage_id, $18::smallint, p.revision_id, true, n.embedding
from passages p
join note n using (artifact_id)
