-- graph::walk: both tables are read along the thread's order, up to the last entity of the window. "is true" keeps the
-- pattern from the trigram indexes.
with walked as materialized (
    select max(entity_id) as last, count(*) as entities
    from (select entity_id
          from graph_entity
          where namespace = $1 and thread_id = $2 and entity_id > $4
          order by entity_id
          limit $5) wanted
)
select w.last, w.entities,
       array(select entity_id
             from graph_entity
             where namespace = $1 and thread_id = $2 and entity_id > $4 and entity_id <= (select last from walked)
               and (folded_name like $3 or folded_type like $3) is true
             union
             select entity_id
             from graph_observation
             where namespace = $1 and thread_id = $2 and entity_id > $4 and entity_id <= (select last from walked)
               and is_current and (folded like $3) is true
             order by entity_id) as matching
from walked w
