-- neighbours::lines: the lines around some lines of talks that have no name. "offset 0": see hydrate.sql.
select u.of_passage, n.artifact_id, n.is_before, n.author, n.role, null::integer as turn_index, 0 as start_char,
    left(a.content, $4) as text, a.char_count > $4 as is_cut
from unnest($2::bigint[]) with ordinality u (of_passage, place)
cross join lateral (
    select revision_id from passage where namespace = $1 and passage_id = u.of_passage offset 0
) p
cross join lateral (
    select line_of, line_index from artifact_revision
    where namespace = $1 and revision_id = p.revision_id and line_of is not null and passages = 1 offset 0
) r
cross join lateral (
    (select artifact_id, true as is_before, author, role, line_index
     from artifact_revision
     where namespace = $1 and line_of = r.line_of and line_index < r.line_index and is_latest
     order by line_index desc
     limit $3)
    union all
    (select artifact_id, false, author, role, line_index
     from artifact_revision
     where namespace = $1 and line_of = r.line_of and line_index > r.line_index and is_latest
     order by line_index
     limit $3)
) n
cross join lateral (select content, char_count from artifact where namespace = $1 and artifact_id = n.artifact_id offset 0) a
order by u.place, n.line_index
