-- What extraction reads of an owner's promises at every text, in one place: it was put together from four tables.
drop index event_actor_promises;
drop index event_actor_endings;
alter table semantic_event drop column matter;

-- The promises of an owner, and what may end them, by time, with all that is asked of them.
-- A row goes with its event, which its owner outlives. `matter` is what the event is about, as memory-core/src/commitment.rs
-- reads it; `ending` is null for a promise.
create table owner_event (
    namespace        text        not null,
    entity_id        bigint      not null,
    is_promise       boolean     not null,
    occurred_at      timestamptz not null,
    event_id         text        not null,
    ending           text        check (ending in ('fulfils', 'cancels')),
    matter           text[]      not null,
    revision_id      bigint      not null,
    start_char       integer     not null,
    said_at          timestamptz not null,
    conversation_id  text,
    turn_index       integer,
    primary key (namespace, entity_id, is_promise, occurred_at, event_id),
    foreign key (namespace, event_id) references semantic_event on delete cascade,
    check (is_promise = (ending is null))
);
create index owner_event_event on owner_event (namespace, event_id);

-- Promises that are there already are ended by what is told from now on. A matter that nobody has read yet is told in
-- words, behind an exclamation mark.
insert into owner_event (namespace, entity_id, is_promise, occurred_at, event_id, ending, matter, revision_id, start_char,
    said_at, conversation_id, turn_index)
select a.namespace, a.entity_id, true, a.occurred_at, a.event_id, null, array['!' || e.narrative], e.revision_id,
    coalesce((select v.start_char from event_evidence v
              where v.namespace = a.namespace and v.event_id = a.event_id order by v.ordinal limit 1), 0),
    coalesce(r.date, r.created_at), r.conversation_id, r.turn_index
from event_actor a
join semantic_event e on e.namespace = a.namespace and e.event_id = a.event_id
join artifact_revision r on r.namespace = e.namespace and r.revision_id = e.revision_id
where a.role = 'owner' and a.category = 'Commitment';
