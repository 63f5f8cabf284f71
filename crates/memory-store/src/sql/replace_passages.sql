-- passages::replace: new passages for a revision, as its metadata now renders them; $3 to $11 are
-- their columns (PassageColumns).
with revision as (
    update artifact_revision set rendering = rendering + 1, passages = cardinality($6::text[])
    where namespace = $1 and revision_id = $2
    returning artifact_id, is_latest
), passages as (
    insert into passage (namespace, revision_id, artifact_id, ordinal, chunk_index, start_char, end_char, text, lex,
        lex_length, is_latest)
    select $1, $2, r.artifact_id, u.ordinal - 1, u.chunk_index, u.start_char, u.end_char, u.text, u.lex::tsvector,
        u.lex_length, r.is_latest
    from revision r,
        unnest($3::int[], $4::int[], $5::int[], $6::text[], $7::text[], $8::int[])
            with ordinality u (chunk_index, start_char, end_char, text, lex, lex_length, ordinal)
    returning passage_id, ordinal, is_latest
), states as (
    insert into passage_tokens (namespace, passage_id, model_id, states)
    select $1, p.passage_id, $12::smallint, v.states
    from unnest($9::int[], $11::bytea[]) v (ordinal, states)
    join passages p using (ordinal)
    where octet_length(v.states) > 0
)
insert into passage_embedding (namespace, passage_id, model_id, revision_id, is_latest, embedding)
select $1, p.passage_id, $12::smallint, $2, p.is_latest, v.embedding
from unnest($9::int[], $10::vector[]) v (ordinal, embedding)
join passages p using (ordinal)
