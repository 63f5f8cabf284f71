-- expansion::people_spelt_alike: people with these words for a name or a first name, whatever their accents. Reads all names of the
-- namespace.
with name as (
    select a.entity_id, regexp_replace(normalize(a.normalised, NFD), '[\u0300-\u036f]', '', 'g') as folded
    from entity_alias a
    where a.namespace = $1
), spelt as (
    select entity_id, replace(replace(replace(folded, 'ae', 'a'), 'oe', 'o'), 'ue', 'u') as folded from name
), wanted as (
    select replace(replace(replace(regexp_replace(normalize($2::text, NFD), '[\u0300-\u036f]', '', 'g'),
        'ae', 'a'), 'oe', 'o'), 'ue', 'u') as folded
)
select distinct r.entity_id, r.name
from spelt s
cross join wanted w
join entity t on t.namespace = $1 and t.entity_id = s.entity_id
join entity r on r.namespace = $1 and r.entity_id = coalesce(t.canonical_id, t.entity_id)
where (s.folded = w.folded or split_part(s.folded, ' ', 1) = w.folded) and r.entity_type = 'person'
order by r.entity_id
limit $3
