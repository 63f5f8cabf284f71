-- Which revisions' passages have changed, for processes that keep these in memory: they ask for what was noted since the state that they
-- have read, by transaction, so that one which began earlier and ended later is not missed. Pruned after a day.
create table search_change (
    namespace  text         not null,
    at         xid8         not null default pg_current_xact_id(),
    revisions  bigint[]     not null,
    noted_at   timestamptz  not null default now()
);
create index search_change_at on search_change (namespace, at);

create function note_search_change() returns trigger language plpgsql as $$
begin
    insert into search_change (namespace, revisions)
    select namespace, array_agg(distinct revision_id) from changed where revision_id is not null group by namespace;
    return null;
end $$;

create function note_search_change_of_revision() returns trigger language plpgsql as $$
begin
    insert into search_change (namespace, revisions) values (new.namespace, array[new.revision_id]);
    return null;
end $$;

create trigger search_insert after insert on passage
    referencing new table as changed for each statement execute function note_search_change();
create trigger search_update after update on passage
    referencing new table as changed for each statement execute function note_search_change();
create trigger search_delete after delete on passage
    referencing old table as changed for each statement execute function note_search_change();
-- The states of tokens are written in the same transactions. What goes, goes with its passage.
create trigger search_insert after insert on passage_embedding
    referencing new table as changed for each statement execute function note_search_change();
create trigger search_update after update on passage_embedding
    referencing new table as changed for each statement execute function note_search_change();
create trigger search_update after update on artifact_revision for each row
    when ((old.date, old.importance, old.conversation_id, old.turn_index, old.passages, old.artifact_uid, old.role, old.author)
          is distinct from
          (new.date, new.importance, new.conversation_id, new.turn_index, new.passages, new.artifact_uid, new.role, new.author))
    execute function note_search_change_of_revision();
