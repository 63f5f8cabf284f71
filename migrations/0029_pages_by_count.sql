-- What stands open is found and counted by index and by hash, however many promises there are.

-- The promises by their due times, those without one last, with what is asked of each while it is counted.
drop index semantic_event_due;
create index semantic_event_commitment on semantic_event (namespace, due_time) include (event_id, revision_id) where category = 'Commitment';

-- The text that tells how a promise ended: what only an outdated one tells ends nothing. Set by the database, so that servers of an
-- earlier version may go on writing.
alter table event_link add column closing_revision bigint;
update event_link l set closing_revision = e.revision_id
from semantic_event e
where e.namespace = l.namespace and e.event_id = l.closing_id;

create function set_closing_revision() returns trigger language plpgsql as $$
begin
    select revision_id into new.closing_revision from semantic_event where namespace = new.namespace and event_id = new.closing_id;
    return new;
end
$$;
create trigger closing_revision before insert on event_link for each row execute function set_closing_revision();
