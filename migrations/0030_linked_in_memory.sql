-- Processes keep in memory, beside passages, what results hang together with: events with their actors and subjects, entities, their
-- names and mentions. What was found in a text is noted with its revision; what else changes of an entity by its own number.
alter table search_change add column entities bigint[] not null default '{}';

create function note_search_change_of_entities() returns trigger language plpgsql as $$
begin
    insert into search_change (namespace, revisions, entities)
    select namespace, '{}', array_agg(entity_id) from changed group by namespace;
    return null;
end $$;

create function note_search_change_of_candidates() returns trigger language plpgsql as $$
begin
    insert into search_change (namespace, revisions, entities)
    select namespace, '{}', array_agg(low_id) || array_agg(high_id) from changed group by namespace;
    return null;
end $$;

-- A new entity comes with the text that names it.
create trigger search_update after update on entity
    referencing new table as changed for each statement execute function note_search_change_of_entities();
create trigger search_delete after delete on entity
    referencing old table as changed for each statement execute function note_search_change_of_entities();
create trigger search_insert after insert on entity_candidate
    referencing new table as changed for each statement execute function note_search_change_of_candidates();
create trigger search_update after update on entity_candidate
    referencing new table as changed for each statement execute function note_search_change_of_candidates();
create trigger search_delete after delete on entity_candidate
    referencing old table as changed for each statement execute function note_search_change_of_candidates();
-- Events go with a quote in another text, too.
create trigger search_delete after delete on semantic_event
    referencing old table as changed for each statement execute function note_search_change();

-- Each extraction says when it was made.
drop trigger search_update on artifact_revision;
create trigger search_update after update on artifact_revision for each row
    when ((old.date, old.importance, old.conversation_id, old.turn_index, old.passages, old.artifact_uid, old.role, old.author,
           old.extracted_at, old.is_latest)
          is distinct from
          (new.date, new.importance, new.conversation_id, new.turn_index, new.passages, new.artifact_uid, new.role, new.author,
           new.extracted_at, new.is_latest))
    execute function note_search_change_of_revision();
