-- What people page through, newest first: texts and events of a namespace by their time.
create index if not exists artifact_revision_time on artifact_revision (namespace, coalesce(date, created_at), revision_id)
    where is_latest;
create index if not exists semantic_event_time on semantic_event (namespace, coalesce(event_time, created_at), event_id);
