-- Directives that whoever stored a text said to hold no longer, in its tags: "withdrawn:art_…#120-171". Kept beside commitments that a
-- text ends, which these are not.
alter table told_ending drop constraint told_ending_kind_check;
alter table told_ending add constraint told_ending_kind_check check (kind in ('fulfils', 'cancels', 'withdraws'));

create or replace function note_told_endings() returns trigger language plpgsql as $$
begin
    delete from told_ending where namespace = new.namespace and closing_revision = new.revision_id;
    insert into told_ending (namespace, artifact_id, start_char, end_char, closing_revision, closing_artifact, kind, occurred_at)
    select new.namespace, told[2], told[3]::integer, told[4]::integer, new.revision_id, new.artifact_id,
           case told[1] when 'done' then 'fulfils' when 'cancelled' then 'cancels' else 'withdraws' end,
           coalesce(new.date, new.created_at)
    from unnest(new.tags) tag
    cross join lateral regexp_match(tag, '^(done|cancelled|withdrawn):(art_[0-9a-f]{12,64})#([0-9]{1,8})-([0-9]{1,8})$') told
    where told is not null
    on conflict do nothing;
    return null;
end
$$;

create or replace view commitment_ending with (security_invoker = true) as
    select namespace, commitment_id, closing_id, closing_revision, kind, occurred_at from event_link
    union all
    select t.namespace, e.event_id, t.closing_artifact, t.closing_revision, t.kind, t.occurred_at
    from told_ending t
    join artifact_revision r on r.namespace = t.namespace and r.artifact_id = t.artifact_id
    join event_evidence v on v.namespace = r.namespace and v.revision_id = r.revision_id
    join semantic_event e on e.namespace = v.namespace and e.event_id = v.event_id and e.category = 'Commitment'
    where t.kind <> 'withdraws'
      and least(v.end_char, t.end_char) - greatest(v.start_char, t.start_char)
          > least(v.end_char - v.start_char, t.end_char - t.start_char) / 2;
