-- Each vector is linked to more others in the indexes of the models, and more are looked at for its links: among real texts the index
-- then finds more of the nearest. Small indexes are made anew here. Large ones link what comes from now on with more care, and get
-- more links with `reindex index concurrently`, whenever that suits.
create or replace function create_vector_index(model smallint) returns void language plpgsql security definer as $$
declare
    wanted integer;
begin
    select m.dimension into strict wanted from embedding_model m where m.model_id = model;
    execute format(
        'create index if not exists passage_embedding_hnsw_%1$s on passage_embedding
         using hnsw ((embedding::halfvec(%2$s)) halfvec_cosine_ops) with (m = 24, ef_construction = 128) where model_id = %1$s',
        model, wanted);
end
$$;

do $$
declare
    index_name text;
begin
    execute format('alter function create_vector_index(smallint) set search_path = %s, pg_temp', current_setting('search_path'));
    for index_name in select format('passage_embedding_hnsw_%s', model_id) from embedding_model
                      where to_regclass(format('passage_embedding_hnsw_%s', model_id)) is not null
    loop
        execute format('alter index %s set (m = 24, ef_construction = 128)', index_name);
        if pg_relation_size(index_name::regclass) < 32 * 1024 * 1024 then
            execute format('reindex index %s', index_name);
        end if;
    end loop;
end
$$;
