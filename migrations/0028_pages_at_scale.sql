-- What people page through is found by index however much there is, under row-level security too.

-- The most important texts first.
create index artifact_revision_importance on artifact_revision (namespace, importance, revision_id) where is_latest;
-- What is outdated, to be left out of counts.
create index artifact_revision_outdated on artifact_revision (namespace, revision_id) where not is_latest;
-- Events of one kind by their time.
create index semantic_event_kind_time on semantic_event (namespace, category, coalesce(event_time, created_at), event_id);
-- Texts by their tags.
create index artifact_revision_tags on artifact_revision using gin (folded_tags) with (fastupdate = off);

-- The audit by who, what, and where; newest first.
create index audit_entry_who on audit_entry (who, audit_id);
create index audit_entry_action on audit_entry (action, audit_id);
create index audit_entry_namespace on audit_entry (namespace, audit_id);

-- What is asked with @> is looked for in views of the owner with the policy's condition in them (decision 23): an operator that is not
-- marked leakproof uses no index under a policy.
do $$
declare
    is_within constant text := $sql$(namespace = (select nullif(current_setting('remembrancer.namespace', true), ''))
        or (select current_setting('remembrancer.namespace', true) = '*'))$sql$;
begin
    execute 'create view searched_tags as select namespace, revision_id, folded_tags from artifact_revision where ' || is_within;
    execute 'create view searched_audit as select namespace, audit_id, ids from audit_entry where ' || is_within;
end
$$;
