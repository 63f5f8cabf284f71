-- decisions::all: merges as the tree of entities has them, rejections as the pairs have them, and what waits for its entities.
-- At most $2 addresses and revisions an entity.
with decided as materialized (
    select 'merged' as kind, t.entity_id as first_id, t.merged_into as second_id,
        coalesce(c.state = 'rejected' or c.former_state = 'rejected', false) as were_rejected
    from entity t
    left join entity_candidate c on c.namespace = $1 and c.low_id = least(t.entity_id, t.merged_into)
        and c.high_id = greatest(t.entity_id, t.merged_into)
    where t.namespace = $1 and t.merged_into is not null
    union all
    select 'rejected', c.low_id, c.high_id, false
    from entity_candidate c
    join entity a on a.namespace = $1 and a.entity_id = c.low_id
    join entity b on b.namespace = $1 and b.entity_id = c.high_id
    where c.namespace = $1 and c.state = 'rejected'
        and a.merged_into is distinct from b.entity_id and b.merged_into is distinct from a.entity_id
), terms as materialized (
    select t.entity_id,
        jsonb_build_object('entity_type', t.entity_type, 'name', t.normalised, 'distinguisher', t.distinguisher,
            'addresses', array(
                select distinct a.normalised collate "C" from entity_alias a
                where a.namespace = $1 and a.entity_id = t.entity_id and t.entity_type = 'person'
                    and a.normalised like '_%@_%.%'
                order by 1 limit $2)) as terms,
        array(
            select revision_id from (
                select a.revision_id from entity_alias a where a.namespace = $1 and a.entity_id = t.entity_id
                union
                select m.revision_id from entity_mention m where m.namespace = $1 and m.entity_id = t.entity_id
            ) named
            order by 1 limit $2) as revisions
    from entity t
    where t.namespace = $1 and t.entity_id in (select first_id from decided union select second_id from decided)
)
select d.kind, d.were_rejected, a.terms as first_terms, a.revisions as first_revisions, b.terms as second_terms,
    b.revisions as second_revisions
from decided d
join terms a on a.entity_id = d.first_id
join terms b on b.entity_id = d.second_id
union all
select kind, were_rejected, first_terms, first_revisions, second_terms, second_revisions
from entity_decision
where namespace = $1
