content as (
    insert into artifact (namespace, artifact_id, sha256, content, char_count, token_count)
    select $1, $2::jsonb ->> 'artifact_id', $15, $16, char_length($16), $17
    on conflict do nothing
    returning artifact_id
), 