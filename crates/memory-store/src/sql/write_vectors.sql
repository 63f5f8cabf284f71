-- passages::write_vectors: vectors and tokens' states of passages that are still there.
with present as materialized (
    select p.passage_id, p.revision_id, p.is_latest, v.embedding, v.states
    from unnest($3::bigint[], $4::vector[], $5::bytea[]) v (passage_id, embedding, states)
    cross join lateral (
        select * from passage p where p.namespace = $1 and p.passage_id = v.passage_id
        for key share
        offset 0
    ) p
), states as (
    insert into passage_tokens (namespace, passage_id, model_id, states)
    select $1, passage_id, $2, states from present where octet_length(states) > 0
    on conflict (namespace, passage_id, model_id) do update set states = excluded.states
)
insert into passage_embedding (namespace, passage_id, model_id, revision_id, is_latest, embedding)
select $1, passage_id, $2, revision_id, is_latest, embedding from present
on conflict (namespace, passage_id, model_id) do update set embedding = excluded.embedding
