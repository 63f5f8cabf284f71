-- graph::observation_versions: the versions of an entity's observations, or of the one that has the handle $4, until their
-- text passes $7 characters.
select *
from (
    select listed.*, count(*) over () as listed,
           sum(char_length(content) + 200) over (order by chain_id, version rows unbounded preceding)
               - char_length(content) - 200 as chars_before
    from (
        select o.handle, o.chain_id, o.version, o.is_current, o.content, o.created_at, o.confidence, o.importance,
               lag(o.handle) over chain as supersedes, lead(o.handle) over chain as superseded_by
        from graph_observation o
        where o.namespace = $1 and o.thread_id = $2 and o.entity_id = $3
          and ($4::bigint is null
               or o.chain_id = (select chain_id from graph_observation where namespace = $1 and handle = $4
                                  and thread_id = $2 and entity_id = $3))
        window chain as (partition by o.chain_id order by o.version)
        order by o.chain_id, o.version
        limit $5
        offset $6
    ) listed
) measured
where chars_before < $7
order by chain_id, version
