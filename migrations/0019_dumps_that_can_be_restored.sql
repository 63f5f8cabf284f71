-- What pg_dump writes is restored with an empty search path, under which the body of this function did not find the other one,
-- and no table with generated columns could be made. A body in this form knows what it calls by what that is, not by its name.
create or replace function folded(names text[]) returns text[] language sql immutable strict parallel safe
begin atomic
    select coalesce(array_agg(folded(u.name) order by u.n), '{}') from unnest(names) with ordinality u (name, n);
end;
