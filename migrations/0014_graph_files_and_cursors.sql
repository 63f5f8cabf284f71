-- Cursors of a graph are sealed with a key of its own: the numbers of its rows count for all namespaces.
alter table graph_thread add column cursor_key uuid not null default gen_random_uuid();

-- Since when the file of a graph has been seen to be gone.
alter table graph_thread add column file_gone_since timestamptz check (file_gone_since is null or file_path is not null);
