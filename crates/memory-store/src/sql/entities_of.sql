-- expansion::entities_of: who and what the revisions are about. «offset 0»: see hydrate.sql.
with told as materialized (
    select s.revision_id, e.event_id
    from unnest($2::bigint[]) s (revision_id)
    cross join lateral (select event_id from semantic_event where namespace = $1 and revision_id = s.revision_id offset 0) e
), found as materialized (
    select entity_id, count(distinct revision_id) as revisions
    from (
        select m.entity_id, s.revision_id
        from unnest($2::bigint[]) s (revision_id)
        cross join lateral (select entity_id from entity_mention where namespace = $1 and revision_id = s.revision_id offset 0) m
        union all
        select a.entity_id, t.revision_id from told t
        cross join lateral (select entity_id from event_actor where namespace = $1 and event_id = t.event_id offset 0) a
        union all
        select a.entity_id, t.revision_id from told t
        cross join lateral (select entity_id from event_subject where namespace = $1 and event_id = t.event_id offset 0) a
    ) linked
    group by entity_id
    order by revisions desc, entity_id
    limit $3
)
select t.name, t.entity_type, mentions.number as mention_count,
    array(select min(a.alias) from entity_alias a
          where a.namespace = $1 and a.entity_id = found.entity_id and a.normalised <> t.normalised group by a.normalised order by 1) as aliases
from found
cross join lateral (select * from entity where namespace = $1 and entity_id = found.entity_id offset 0) t
cross join lateral (select count(*) as number from entity_mention where namespace = $1 and entity_id = found.entity_id) mentions
order by found.revisions desc, mention_count desc, t.name, t.entity_type
