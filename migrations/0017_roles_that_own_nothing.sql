-- What only the owner of the schema may do, for servers and workers whose role owns nothing of it: each function does one thing, with
-- nothing in it that a caller can word. `remembrancer migrate --grant-to ROLE` lets a role call them.

-- The index of a model's vectors. Its name and definition stand in models.rs too, for owners, who make it while others write.
create function create_vector_index(model smallint) returns void language plpgsql security definer as $$
declare
    wanted integer;
begin
    select m.dimension into strict wanted from embedding_model m where m.model_id = model;
    execute format(
        'create index if not exists passage_embedding_hnsw_%1$s on passage_embedding
         using hnsw ((embedding::halfvec(%2$s)) halfvec_cosine_ops) where model_id = %1$s',
        model, wanted);
end
$$;

create function drop_vector_index(model smallint) returns void language plpgsql security definer as $$
begin
    execute format('drop index if exists passage_embedding_hnsw_%s', model);
end
$$;

-- Whether changes of vectors are noted for a mirror.
create function note_vector_changes(are_noted boolean) returns void language plpgsql security definer as $$
declare
    verb text := case when are_noted then 'enable' else 'disable' end;
begin
    execute format('alter table passage_embedding %1$s trigger mirror_insert, %1$s trigger mirror_update, %1$s trigger mirror_delete', verb);
    execute format('alter table artifact_revision %s trigger mirror_update', verb);
    execute format('alter table semantic_event %1$s trigger mirror_insert, %1$s trigger mirror_delete', verb);
end
$$;

-- Brings what waits to be indexed into the index.
create function clean_pending_lists(indexes regclass[]) returns void language sql security definer as $$
    select gin_clean_pending_list(one) from unnest(indexes) one
$$;

-- What a caller made for itself is never taken for what is meant.
do $$
declare
    made regprocedure;
begin
    foreach made in array array['create_vector_index(smallint)', 'drop_vector_index(smallint)',
                                'note_vector_changes(boolean)', 'clean_pending_lists(regclass[])']::regprocedure[]
    loop
        execute format('alter function %s set search_path = %s, pg_temp', made, current_setting('search_path'));
        execute format('revoke execute on function %s from public', made);
    end loop;
end
$$;
