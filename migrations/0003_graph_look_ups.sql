-- A row of a graph is looked up by its id, or by a key. As long as an index on a key began with the thread as the primary key does, the
-- planner could take either for both: in a thread of which it has no statistics it read the whole thread for every row
-- that a foreign key looks up. Now each look-up has one index that fits.
alter table graph_entity drop constraint graph_entity_namespace_thread_id_name_key_key;
alter table graph_entity add unique (namespace, name_key, thread_id);
alter table graph_relation drop constraint graph_relation_namespace_thread_id_relation_key_key;
alter table graph_relation add unique (namespace, relation_key, thread_id);

-- A text has dozens of trigrams, and looking up each of them costs more than all else about a row. They wait in a
-- list that searches read too, and come into the index together, so that each is looked up once for many rows. How long the
-- list may be is said by whoever writes (gin_pending_list_limit).
alter index graph_entity_name set (fastupdate = on);
alter index graph_entity_type set (fastupdate = on);
alter index graph_observation_folded set (fastupdate = on);
