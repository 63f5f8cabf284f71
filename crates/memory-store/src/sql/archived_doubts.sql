-- decisions::doubts: pairs that scoring found, whatever was decided since. A pair that was not found doubtful before it was
-- rejected has no score; one that was merged so has no former state.
with doubtful as materialized (
    select low_id, high_id, score, reasons
    from entity_candidate
    where namespace = $1 and score > 0 and (state <> 'merged' or former_state is not null)
), named as materialized (
    select t.entity_id,
        jsonb_build_object('entity_type', t.entity_type, 'name', t.normalised, 'distinguisher', t.distinguisher,
            'addresses', array(
                select distinct a.normalised collate "C" from entity_alias a
                where a.namespace = $1 and a.entity_id = t.entity_id and t.entity_type = 'person'
                    and a.normalised like '_%@_%.%'
                order by 1 limit $2)) as terms
    from entity t
    where t.namespace = $1 and t.entity_id in (select low_id from doubtful union select high_id from doubtful)
)
select d.score, d.reasons, a.terms as first_terms, array[]::bigint[] as first_revisions, b.terms as second_terms,
    array[]::bigint[] as second_revisions
from doubtful d
join named a on a.entity_id = d.low_id
join named b on b.entity_id = d.high_id
