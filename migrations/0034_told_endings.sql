-- Commitments that whoever stored a text said to be ended by it, in its tags: "done:art_…#120-171", "cancelled:art_…#120-171", with
-- the text that tells the commitment and the characters where it does. These stay what they are when the text is read again or comes
-- out of an archive, and go with the text that ends the commitment.
create table told_ending (
    namespace         text        not null,
    artifact_id       text        not null,
    start_char        integer     not null,
    end_char          integer     not null,
    closing_revision  bigint      not null,
    closing_artifact  text        not null,
    kind              text        not null check (kind in ('fulfils', 'cancels')),
    occurred_at       timestamptz not null,
    primary key (namespace, artifact_id, start_char, end_char, closing_revision),
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
    insert into told_ending (namespace, artifact_id, start_char, end_char, closing_revision, closing_artifact, kind, occurred_at)
    select new.namespace, told[2], told[3]::integer, told[4]::integer, new.revision_id, new.artifact_id,
           case told[1] when 'done' then 'fulfils' else 'cancels' end, coalesce(new.date, new.created_at)
    from unnest(new.tags) tag
    cross join lateral regexp_match(tag, '^(done|cancelled):(art_[0-9a-f]{12,64})#([0-9]{1,8})-([0-9]{1,8})$') told
    where told is not null
    on conflict do nothing;
    return null;
end
$$;
create trigger told_insert after insert on artifact_revision for each row
    when (array_to_string(new.tags, ' ') ~ ':art_')
    execute function note_told_endings();
create trigger told_update after update of tags, date on artifact_revision for each row
    when (array_to_string(old.tags, ' ') ~ ':art_' or array_to_string(new.tags, ' ') ~ ':art_')
    execute function note_told_endings();

-- All that ends commitments: events, and texts by their tags. Of a commitment most of what tells it, or of what is named, is the same.
create view commitment_ending with (security_invoker = true) as
    select namespace, commitment_id, closing_id, closing_revision, kind, occurred_at from event_link
    union all
    select t.namespace, e.event_id, t.closing_artifact, t.closing_revision, t.kind, t.occurred_at
    from told_ending t
    join artifact_revision r on r.namespace = t.namespace and r.artifact_id = t.artifact_id
    join event_evidence v on v.namespace = r.namespace and v.revision_id = r.revision_id
    join semantic_event e on e.namespace = v.namespace and e.event_id = v.event_id and e.category = 'Commitment'
    where least(v.end_char, t.end_char) - greatest(v.start_char, t.start_char)
          > least(v.end_char - v.start_char, t.end_char - t.start_char) / 2;
