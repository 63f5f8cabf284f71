-- row_security::lacks_rights
-- Whether role $1 lacks any of what grants.sql gives it.
with owner as (
    select relowner, relnamespace from pg_class where oid = '_sqlx_migrations'::regclass
)
select exists (
    select from pg_class c
    join owner using (relowner, relnamespace)
    where c.relkind in ('r', 'p', 'v', 'S')
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
      and not case when c.relkind = 'S' then has_sequence_privilege($1, c.oid, 'update') else has_table_privilege($1, c.oid, 'select') end
) or exists (
    select from pg_proc p
    join owner on owner.relnamespace = p.pronamespace and owner.relowner = p.proowner
    where not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
      and not has_function_privilege($1, p.oid, 'execute')
) or not has_schema_privilege($1, (select relnamespace from owner), 'usage')
