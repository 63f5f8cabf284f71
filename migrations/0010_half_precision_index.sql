-- The indexes of the models hold numbers of 16 bits instead of 32: half the size on disk and in memory, and faster to walk. The
-- vectors themselves stay as they are. In a large database this takes as long as making the indexes did.
do $$
declare
    model record;
begin
    for model in select model_id, dimension from embedding_model
                 where to_regclass(format('passage_embedding_hnsw_%s', model_id)) is not null
    loop
        execute format('drop index passage_embedding_hnsw_%s', model.model_id);
        execute format(
            'create index passage_embedding_hnsw_%1$s on passage_embedding
             using hnsw ((embedding::halfvec(%2$s)) halfvec_cosine_ops) where model_id = %1$s',
            model.model_id, model.dimension);
    end loop;
end
$$;
