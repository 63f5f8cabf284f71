-- graph::insert_entities: counts the new ones, and gives the relations that name one of them its id. Rows are found by
-- look-ups ("offset 0", see hydrate.sql) and changed in place ("ctid"): the thread is locked.
with counted as (
    update graph_thread
    set entities = entities + cardinality($3::uuid[])
    where namespace = $1 and thread_id = $2
)
update graph_relation r
set from_id = coalesce(r.from_id, (select e.entity_id from graph_entity e
                                   where e.namespace = $1 and e.thread_id = $2 and e.name_key = r.from_key)),
    to_id = coalesce(r.to_id, (select e.entity_id from graph_entity e
                               where e.namespace = $1 and e.thread_id = $2 and e.name_key = r.to_key))
where r.ctid = any(array(
    select d.ctid
    from unnest($3::uuid[]) n (name_key)
    cross join lateral (
        select ctid
        from graph_relation
        where namespace = $1 and thread_id = $2 and from_key = n.name_key and from_id is null
        offset 0
    ) d
    union all
    select d.ctid
    from unnest($3::uuid[]) n (name_key)
    cross join lateral (
        select ctid
        from graph_relation
        where namespace = $1 and thread_id = $2 and to_key = n.name_key and to_id is null
        offset 0
    ) d
))
