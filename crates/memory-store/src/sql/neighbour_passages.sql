-- neighbours::passages: the passages around some passages of texts, without what they share with them.
-- "offset 0": see hydrate.sql.
select u.of_passage, p.artifact_id, n.ordinal < p.ordinal as is_before, r.author, r.role, null::int as turn_index,
    c.start_char, case when n.ordinal < p.ordinal then right(c.text, $4) else left(c.text, $4) end as text,
    char_length(c.text) > $4 as is_cut
from unnest($2::bigint[]) with ordinality u (of_passage, place)
cross join lateral (select * from passage where namespace = $1 and passage_id = u.of_passage offset 0) p
cross join lateral (select author, role from artifact_revision where namespace = $1 and revision_id = p.revision_id offset 0) r
cross join lateral (
    select ordinal, start_char, end_char, text from passage
    where namespace = $1 and revision_id = p.revision_id and ordinal between p.ordinal - $3 and p.ordinal + $3
        and ordinal <> p.ordinal
    offset 0
) n
cross join lateral (
    select greatest(n.start_char, case when n.ordinal > p.ordinal then p.end_char else 0 end) as start_char,
        case
            when n.ordinal < p.ordinal then left(n.text, least(n.end_char, p.start_char) - n.start_char)
            else substr(n.text, greatest(p.end_char - n.start_char, 0) + 1)
        end as text
) c
where c.text <> ''
order by u.place, n.ordinal
