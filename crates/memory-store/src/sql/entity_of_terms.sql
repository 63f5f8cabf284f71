-- decisions::find: the entity of the type $2 and the name $3 that goes by one of the addresses $5; else the one with the
-- distinguisher $4, unless it goes by other addresses than these; else the only person of whatever name with such an address.
with named as materialized (
    select t.entity_id, t.distinguisher,
        exists (select from entity_alias a
                where a.namespace = $1 and a.entity_id = t.entity_id and a.normalised = any($5)) as has_such,
        exists (select from entity_alias a
                where a.namespace = $1 and a.entity_id = t.entity_id and position('@' in a.normalised) > 1) as has_any
    from entity t
    where t.namespace = $1 and t.entity_type = $2 and t.normalised = $3
), holder as materialized (
    select distinct t.entity_id
    from unnest($5::text[]) u (address)
    cross join lateral (
        select distinct a.entity_id from entity_alias a where a.namespace = $1 and a.normalised = u.address limit 2
    ) a
    join entity t on t.namespace = $1 and t.entity_id = a.entity_id
    where t.entity_type = $2 and $2 = $6
)
select entity_id from (
    select entity_id, case when has_such then 0 else 1 end as place
    from named
    where has_such or (distinguisher = $4 and (cardinality($5::text[]) = 0 or not has_any))
    union all
    select min(entity_id), 2 from holder having count(*) = 1
) found
order by place, entity_id
limit 1
