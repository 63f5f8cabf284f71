-- reembedding::lacking: passages without a vector of the model. "offset 0" keeps the order of the joins: along the
-- passages by their key, and by key to the vector of each, so that a page costs what lies between it and the last.
select p.namespace, p.passage_id, p.revision_id, p.text
from passage p
left join lateral (
    select true as is_there
    from passage_embedding e
    where e.namespace = p.namespace and e.passage_id = p.passage_id and e.model_id = $1
    offset 0
) e on true
where (p.namespace, p.passage_id) > ($2, $3) and e.is_there is null
order by p.namespace, p.passage_id
limit $4
