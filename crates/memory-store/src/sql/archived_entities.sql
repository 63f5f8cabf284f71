-- archive::entities: a row for each version of an observation, or one for an entity without any. "offset 0": see
-- hydrate.sql.
select e.entity_id, e.name, e.entity_type, e.confidence, e.importance, e.is_root, e.created_at, e.updated_at,
    o.handle, o.chain_id, o.version, o.is_current, o.content, o.confidence as observation_confidence,
    o.importance as observation_importance, o.created_at as observed_at
from graph_entity e
left join lateral (
    select handle, chain_id, version, is_current, content, confidence, importance, created_at
    from graph_observation
    where namespace = $1 and thread_id = $2 and entity_id = e.entity_id
    offset 0
) o on true
where e.namespace = $1 and e.thread_id = $2
order by e.entity_id, o.chain_id, o.version
