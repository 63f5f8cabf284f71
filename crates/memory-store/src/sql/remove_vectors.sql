-- reembedding::remove_vectors: a page of a model's vectors and states, found by key and deleted where they lie.
with page as materialized (
    select e.ctid as place, e.namespace, e.passage_id
    from passage_embedding e
    where (e.namespace, e.passage_id) > ($2, $3) and e.model_id = $1
    order by e.namespace, e.passage_id
    limit $4
), vectors as (
    delete from passage_embedding where ctid = any(array(select place from page)) and model_id = $1
), states as (
    delete from passage_tokens
    where ctid = any(array(
        select t.ctid
        from page
        cross join lateral (
            select t.ctid from passage_tokens t
            where t.namespace = page.namespace and t.passage_id = page.passage_id and t.model_id = $1
            offset 0
        ) t
    )) and model_id = $1
)
select namespace, passage_id from page order by namespace desc, passage_id desc limit 1
