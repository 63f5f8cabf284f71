-- neighbours::turns: the turns around some turns of conversations. "offset 0": see hydrate.sql.
select u.of_passage, n.artifact_id, n.is_before, n.author, n.role, n.turn_index, 0 as start_char,
    left(a.content, $6) as text, a.char_count > $6 as is_cut
from unnest($2::bigint[], $3::text[], $4::int[]) with ordinality u (of_passage, conversation_id, turn_index, place)
cross join lateral (
    (select artifact_id, true as is_before, author, role, turn_index
     from artifact_revision
     where namespace = $1 and conversation_id = u.conversation_id and turn_index < u.turn_index and is_latest
     order by turn_index desc
     limit $5)
    union all
    (select artifact_id, false, author, role, turn_index
     from artifact_revision
     where namespace = $1 and conversation_id = u.conversation_id and turn_index > u.turn_index and is_latest
     order by turn_index
     limit $5)
) n
cross join lateral (select content, char_count from artifact where namespace = $1 and artifact_id = n.artifact_id offset 0) a
order by u.place, n.turn_index
