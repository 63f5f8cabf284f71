-- entities::surroundings: where the entities ($2) were mentioned of late (the newest 8 mentions each), held against the
-- conversations ($3), sources ($4) and other entities ($5) of a text; those that count as the same are asked together.
with member as materialized (
    select u.root, u.root as entity_id from unnest($2::bigint[]) u (root)
    union all
    select u.root, m.entity_id
    from unnest($2::bigint[]) u (root)
    cross join lateral (
        select entity_id from entity where namespace = $1 and canonical_id = u.root order by entity_id limit 8
    ) m
), recent as materialized (
    select distinct m.root, newest.revision_id
    from member m
    cross join lateral (
        select revision_id from entity_mention
        where namespace = $1 and entity_id = m.entity_id
        order by revision_id desc
        limit 8
    ) newest
), place as materialized (
    select r.root, r.revision_id, v.conversation_id, v.source, coalesce(v.date, v.created_at) as said_at
    from recent r
    cross join lateral (
        select conversation_id, source, date, created_at from artifact_revision
        where namespace = $1 and revision_id = r.revision_id
        offset 0
    ) v
)
select p.root, p.same_conversation, p.same_source, p.said_at,
    coalesce(shared.ids, '{}') as shared_ids, coalesce(shared.mentions, '{}') as shared_mentions
from (
    select root, bool_or(coalesce(conversation_id = any($3), false)) as same_conversation,
        bool_or(coalesce(source = any($4), false)) as same_source, max(said_at) as said_at
    from place
    group by root
) p
cross join lateral (
    select array_agg(s.entity_id) as ids, array_agg(s.mentions) as mentions
    from (select both_with.entity_id,
              (select count(*) from (select from entity_mention c
                                     where c.namespace = $1 and c.entity_id = both_with.entity_id limit 100) counted) as mentions
          from (select distinct m.entity_id
                from recent r
                cross join lateral (
                    select entity_id from entity_mention
                    where namespace = $1 and revision_id = r.revision_id
                    offset 0
                ) m
                where r.root = p.root and m.entity_id = any($5) and m.entity_id <> p.root) both_with) s
) shared
