-- search::resident: the passages of the revisions of a namespace with all that they are found and ranked by. A condition on the
-- revisions may follow.
select p.passage_id, p.revision_id, p.artifact_id, p.is_latest, p.observation, p.lex, p.lex_length,
       coalesce(r.date, r.created_at) as date, r.importance, r.conversation_id, r.turn_index, r.line_of, r.line_index,
       coalesce(r.role, lower(r.author), lower(r.line_speaker)) is not distinct from 'assistant' as by_assistant, coalesce(r.author, r.line_speaker) as speaker,
       p.asks, p.is_question, r.passages, r.artifact_uid,
       null::real as cosine, e.embedding, t.states
from artifact_revision r
cross join lateral (
    select *, /*asks*/ as asks, /*is_question*/ as is_question from passage where namespace = $1 and revision_id = r.revision_id offset 0
) p
left join lateral (
    select embedding from passage_embedding where namespace = $1 and passage_id = p.passage_id and model_id = $2 offset 0
) e on true
left join lateral (
    select states from passage_tokens where namespace = $1 and passage_id = p.passage_id and model_id = $2 offset 0
) t on true
where r.namespace = $1
