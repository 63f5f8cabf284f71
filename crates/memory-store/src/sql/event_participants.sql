-- event_view: the subjects and actors of an event `e`, under the names of the entities that they are merged into.
'subjects', array(
    select (select coalesce((select c.name from entity c where c.namespace = $1 and c.entity_id = t.canonical_id), t.name)
     from entity t where t.namespace = $1 and t.entity_id = s.entity_id)
    from event_subject s where s.namespace = $1 and s.event_id = e.event_id order by 1),
'actors', array(
    select json_build_object('name', (select coalesce((select c.name from entity c where c.namespace = $1 and c.entity_id = t.canonical_id), t.name)
     from entity t where t.namespace = $1 and t.entity_id = s.entity_id),
        'role', s.role)
    from event_actor s where s.namespace = $1 and s.event_id = e.event_id order by s.role, s.entity_id)
