-- A wall between namespaces that the database holds itself. Statements of a role that does not own the tables see and write rows of
-- the namespace alone that their connection has said (`remembrancer.namespace`), all rows where it has said `*`, and none where it has
-- said nothing. The owner, as whom migrations run, is not bound.

do $$
declare
    -- As subqueries both are computed once a statement, and not once a row.
    is_all constant text := $sql$(select current_setting('remembrancer.namespace', true) = '*')$sql$;
    is_within constant text :=
        $sql$namespace = (select nullif(current_setting('remembrancer.namespace', true), '')) or $sql$ || is_all;
    one regclass;
begin
    -- No notices of policies that are not there yet.
    perform set_config('client_min_messages', 'warning', true);
    for one in
        select c.oid from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attname = 'namespace' and not a.attisdropped
        where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
    loop
        execute format('alter table %s enable row level security', one);
        execute format('drop policy if exists within_namespace on %s', one);
        execute format('create policy within_namespace on %s using (%s)', one, is_within);
    end loop;

    -- What opens namespaces belongs to none of them.
    foreach one in array array['access_key', 'admin_password', 'oauth_client', 'oauth_consent', 'oauth_token', 'oauth_ticket']::regclass[]
    loop
        execute format('alter table %s enable row level security', one);
        execute format('drop policy if exists across_namespaces on %s', one);
        execute format('create policy across_namespaces on %s using (%s)', one, is_all);
    end loop;

    -- Words and trigrams are looked for in views of the owner with the same condition: under a policy no index is used for an operator
    -- that is not marked leakproof, such as @@ and like. They have what is looked for by, and no text.
    execute 'create or replace view searched_passage as
             select namespace, passage_id, revision_id, is_latest, lex_length, lex from passage where ' || is_within;
    execute 'create or replace view searched_graph_entity as
             select namespace, thread_id, entity_id, folded_name, folded_type from graph_entity where ' || is_within;
    execute 'create or replace view searched_graph_observation as
             select namespace, thread_id, entity_id, is_current, folded from graph_observation where ' || is_within;
end
$$;

-- Its readers are bound, not its owner.
alter view vector_point set (security_invoker = true);

-- The commonest lexemes of the namespace and in how many passages each occurs, out of the statistics of all, which a bound role is not
-- shown. Any lexeme of the namespace has the key that leads all of them.
create or replace function common_lexemes() returns table (lexeme text, passages real) language sql stable security definer as $$
    select substr(common.lexeme, 6), (common.share * c.reltuples)::real
    from (select left(u.lexeme, 5) as key
          from passage p
          cross join lateral unnest(tsvector_to_array(p.lex)) u (lexeme)
          where p.namespace = nullif(current_setting('remembrancer.namespace', true), '')
          limit 1) own
    cross join pg_class c
    join pg_stats s on s.schemaname = c.relnamespace::regnamespace::text and s.tablename = c.relname and s.attname = 'lex'
    cross join lateral unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) common (lexeme, share)
    where c.oid = 'passage'::regclass and starts_with(common.lexeme, own.key)
$$;

-- What a caller made for itself is never taken for what is meant.
do $$
begin
    execute format('alter function common_lexemes() set search_path = %s, pg_temp', current_setting('search_path'));
end
$$;
revoke execute on function common_lexemes() from public;
