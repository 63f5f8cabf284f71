-- grants
-- The statements that let role $1 work with what the owner of the schema has made: nothing of an extension's, and of the list of
-- migrations only to read.
with owner as (
    select relowner, relnamespace from pg_class where oid = '_sqlx_migrations'::regclass
), ours as (
    select c.oid, c.relkind, c.oid::regclass::text as name
    from pg_class c
    join owner using (relowner, relnamespace)
    where c.relkind in ('r', 'p', 'v', 'S')
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
), statement (place, text) as (
    select 1, format('grant connect on database %I to %I', current_database(), $1)
    union all
    select 2, format('grant usage on schema %s to %I', relnamespace::regnamespace, $1) from owner
    union all
    select 3, case
        when name = '_sqlx_migrations'::regclass::text then format('grant select on %s to %I', name, $1)
        when relkind = 'v' then format('grant select on %s to %I', name, $1)
        when relkind = 'S' then format('grant usage, select, update on sequence %s to %I', name, $1)
        else format('grant select, insert, update, delete on %s to %I', name, $1)
    end
    from ours
    union all
    select 4, format('grant execute on function %s to %I', p.oid::regprocedure, $1)
    from pg_proc p
    join owner on owner.relnamespace = p.pronamespace and owner.relowner = p.proowner
    where not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
)
select text from statement order by place, text
