-- Commitments that whoever stored a text said to be ended by it, in its tags: "done:evt_…", "cancelled:evt_…". They hold however often
-- the text of the commitment is read again, and go with the text that ends them.
create table told_ending (
    namespace         text        not null,
    commitment_id     text        not null,
    closing_revision  bigint      not null,
    closing_artifact  text        not null,
    kind              text        not null check (kind in ('fulfils', 'cancels')),
    occurred_at       timestamptz not null,
    primary key (namespace, commitment_id, closing_revision),
    foreign key (namespace, closing_revision) references artifact_revision on delete cascade
);
create index told_ending_closing on told_ending (namespace, closing_revision);

alter table told_ending enable row level security;
do $$
begin
    execute format('create policy within_namespace on told_ending using (%s)',
        $sql$namespace = (select nullif(current_setting('remembrancer.namespace', true), ''))
            or (select current_setting('remembrancer.namespace', true) = '*')$sql$);
end
$$;

create function note_told_endings() returns trigger language plpgsql as $$
begin
    delete from told_ending where namespace = new.namespace and closing_revision = new.revision_id;
    insert into told_ending (namespace, commitment_id, closing_revision, closing_artifact, kind, occurred_at)
    select new.namespace, 'evt_' || ended[2], new.revision_id, new.artifact_id,
           case ended[1] when 'done' then 'fulfils' else 'cancels' end, coalesce(new.date, new.created_at)
    from unnest(new.tags) tag
    cross join lateral regexp_match(lower(tag), '^(done|cancelled):evt_([0-9a-f]{16})$') ended
    where ended is not null
    on conflict do nothing;
    return null;
end
$$;
create trigger told_insert after insert on artifact_revision for each row
    when (array_to_string(new.tags, ' ') ~ ':evt_')
    execute function note_told_endings();
create trigger told_update after update of tags, date on artifact_revision for each row
    when (array_to_string(old.tags, ' ') ~ ':evt_' or array_to_string(new.tags, ' ') ~ ':evt_')
    execute function note_told_endings();

-- All that ends commitments: events, and texts by what is said of them.
create view commitment_ending with (security_invoker = true) as
    select namespace, commitment_id, closing_id, closing_revision, kind, occurred_at from event_link
    union all
    select namespace, commitment_id, closing_artifact, closing_revision, kind, occurred_at from told_ending;
