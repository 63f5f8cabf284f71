-- Fills the namespace `default` of an installation with 100,000 texts, 150,000 events, 30,000 entities (one of them in 9,000 events),
-- 100,000 jobs and 1,000,000 entries of the audit, for measuring pages (scripts/page-times). As the owner of the database, after a
-- first text was remembered and while no worker runs:
--   psql 'postgres://postgres@localhost/postgres?host=DATA/postgres/socket' -f benches/pages.sql
\set ON_ERROR_STOP on
set session_replication_role = replica;
set synchronous_commit = off;
-- 30,000 entities; hub 1 has 9,000 events
insert into entity (namespace, name, normalised, entity_type)
 select 'default', 'Person '||g||' Name'||(g%977), lower('Person '||g||' Name'||(g%977)), (array['person','org','project','object','place','other'])[1+g%6] from generate_series(1,30000) g;
create temp table ent as select entity_id, row_number() over (order by entity_id) n from entity where namespace='default';
create index on ent(n);
-- texts
insert into artifact (namespace, artifact_id, sha256, content, char_count, token_count)
 select 'default', 'art_'||lpad(to_hex(g),12,'0'), sha256(('t'||g)::bytea),
   'Text number '||g||' says that Person '||(g%30000)||' will write report '||g||' by next week. '||repeat('The harbour office moved box '||(g%313)||' today. ', 6), 0, 90 from generate_series(1,100000) g;
update artifact set char_count = char_length(content);
insert into artifact_revision (namespace, artifact_id, artifact_uid, context, source, author, date, title, tags, importance, summary, extractor, extractor_version, extracted_at, event_count, rejected_count, created_at)
 select 'default', 'art_'||lpad(to_hex(g),12,'0'), 'uid'||g, (array['note','email','meeting','document','decision','preference'])[1+g%6], case when g%3=0 then 'wiki' end,
  case when g%2=0 then 'Author '||(g%200) when g % 1000 = 1 then 'Rare Author' end, now()-make_interval(mins=>g*5), 'Title '||g, case when g%4=0 then array['harbour','t'||(g%500)] when g%5000=1 then array['rare'] else '{}' end,
  (g%1000)/1000.0, 'sum', 'rules', 1, now(), 1, 0, now()-make_interval(mins=>g*5) from generate_series(1,100000) g;
create temp table rev as select revision_id, artifact_id, row_number() over (order by revision_id) n, coalesce(date, created_at) at from artifact_revision where namespace='default' and artifact_uid like 'uid%';
create index on rev(n);
-- events: one a text, and 50,000 more; a third commitments
insert into semantic_event (namespace, event_id, revision_id, artifact_id, ordinal, category, narrative, event_time, due_time, confidence, extractor, extractor_version, created_at)
 select 'default','evt_'||lpad(to_hex(g),16,'0'), r.revision_id, r.artifact_id, g/100001, (array['Commitment','Decision','Execution','Commitment','QualityRisk','Change','Feedback','Collaboration'])[1+g%8],
 'Narrative '||g||' tells what Person '||(g%30000)||' did for the harbour office in week '||(g%52), case when g%3=0 then null else r.at end, case when g%4 in (0,3) and g%8 in (0,3) then r.at + interval '30 d' end, 0.8,'rules',1, r.at
 from generate_series(1,150000) g join rev r on r.n = 1+(g-1)%100000;
insert into event_evidence (namespace,event_id,ordinal,revision_id,artifact_id,start_char,end_char,quote)
 select namespace,event_id,0,revision_id,artifact_id,0,60,left((select content from artifact a where a.namespace=e.namespace and a.artifact_id=e.artifact_id),60) from semantic_event e where namespace='default' on conflict do nothing;
create temp table ev as select event_id, category, coalesce(event_time,created_at) at, row_number() over (order by event_id) n from semantic_event where namespace='default';
insert into event_actor (namespace, entity_id, event_id, role, category, occurred_at)
 select 'default', t.entity_id, e.event_id, 'owner', e.category, e.at from ev e join ent t on t.n = case when e.n%17=0 then 1 else 1+(e.n*7919)%30000 end;
insert into event_actor (namespace, entity_id, event_id, role, category, occurred_at)
 select 'default', t.entity_id, e.event_id, 'contributor', e.category, e.at from ev e join ent t on t.n = 2+(e.n*104729)%400 where e.n%3=0 on conflict do nothing;
insert into event_subject (namespace, entity_id, event_id, category, occurred_at)
 select 'default', t.entity_id, e.event_id, e.category, e.at from ev e join ent t on t.n = 1+(e.n*15485863)%30000 on conflict do nothing;
insert into entity_mention (namespace, entity_id, revision_id, start_char, end_char, artifact_id, surface)
 select 'default', t.entity_id, r.revision_id, 25+k, 40+k, r.artifact_id, 'Person' from rev r cross join generate_series(0,3) k join ent t on t.n = case when k=0 and r.n%10=0 then 1 else 1+(r.n*(7919+k*13))%30000 end on conflict do nothing;
insert into entity_alias (namespace, entity_id, alias, normalised, revision_id)
 select distinct on (t.entity_id, n, m.revision_id) 'default', t.entity_id, initcap(n), n, m.revision_id from entity_mention m join entity t using (namespace, entity_id) cross join lateral (select case when m.revision_id%5=0 then 'p. '||split_part(t.normalised,' ',3) else t.normalised end n) x where m.namespace='default' on conflict do nothing;
insert into entity_key (namespace, entity_type, key, entity_id) select namespace, entity_type, split_part(normalised,' ',2), entity_id from entity where namespace='default' on conflict do nothing;
-- doubtful pairs and merges
insert into entity_candidate (namespace, low_id, high_id, score, reasons) select 'default', a.entity_id, b.entity_id, 0.4+(a.n%50)/100.0, array['a first name','at about the same time'] from ent a join ent b on b.n=a.n+6 where a.n%30=1 ;
update entity set merged_into = e.entity_id, canonical_id = e.entity_id from ent e, ent m where entity.namespace='default' and entity.entity_id=m.entity_id and m.n%50=0 and e.n = m.n-1 and m.n > 50;
-- endings of commitments
insert into event_link (namespace, commitment_id, closing_id, kind, score, occurred_at)
 select 'default', a.event_id, b.event_id, case when a.n%10=0 then 'cancels' else 'fulfils' end, 0.8, b.at from ev a join ev b on b.n = a.n+2 where a.category='Commitment' and a.n%3=0 and b.category<>'Commitment' on conflict do nothing;
-- jobs
insert into event_jobs (namespace, kind, revision_id, status, finished_at, last_error_code, created_at, run_at, attempts)
 select 'default', case when r.n%2=0 then 'extract' else 'embed' end, r.revision_id, case when r.n%50=0 then 'FAILED' else 'DONE' end, now(), case when r.n%50=0 then (array['LLM_TIMEOUT','INTERNAL','LLM_AUTH'])[1+(r.n/50)%3] end, r.at, r.at, 1 from rev r;
insert into audit_entry (at, key_id, who, namespace, action, ids, outcome)
 select now()-make_interval(secs=>(1000000-g)), lpad(to_hex(g%7),12,'0'), 'key '||(g%7), case when g%11=0 then null when g%3=0 then 'other' else 'default' end, case when g%100000=1 then 'keys create' else (array['recall','remember','forget','related'])[1+g%4] end,
  array['art_'||lpad(to_hex(g%100000),12,'0'), 'art_'||lpad(to_hex((g*7)%100000),12,'0')], 'ok' from generate_series(1,1000000) g;
insert into audit_entry (who, namespace, action, ids, outcome) select 'rare key','default','recall','{}','ok' from generate_series(1,3);
-- knowledge graph
insert into graph_thread (namespace, name, entities) values ('default','bulk',20000);
create temp table th as select thread_id from graph_thread where namespace='default' and name='bulk';
insert into graph_entity (namespace, thread_id, name_key, name, entity_type, folded_name, folded_type)
 select 'default', thread_id, md5('n'||g)::uuid, 'Node '||g, 'thing', 'node '||g, 'thing' from th, generate_series(1,20000) g;
create temp table ge as select entity_id, row_number() over (order by entity_id) n from graph_entity join th using (thread_id);
create index on ge(n);
insert into graph_relation (namespace, thread_id, relation_key, from_key, to_key, from_id, to_id, from_name, to_name, relation_type)
 select 'default', thread_id, md5('r'||g)::uuid, md5('n'||(1+g%20000))::uuid, md5('n'||(1+(g*7919)%20000))::uuid, a.entity_id, b.entity_id, 'Node '||(1+g%20000), 'Node '||(1+(g*7919)%20000), 'knows'
 from th, generate_series(1,50000) g join ge a on a.n = 1+g%20000 join ge b on b.n = 1+(g*7919)%20000 where a.n<>b.n on conflict do nothing;
-- Passages, with one vector for all: they are counted, not searched.
create temp table lexkey as
 select left(u.lexeme, 5) k from passage p cross join lateral unnest(tsvector_to_array(p.lex)) u (lexeme) where namespace = 'default' limit 1;
insert into passage (namespace, revision_id, artifact_id, ordinal, start_char, end_char, text, lex, lex_length, is_latest)
 select 'default', r.revision_id, r.artifact_id, 0, 0, a.char_count, a.content, array_to_tsvector((select array_agg(distinct k||w) from lexkey, unnest(array['text','number','t'||r.n,'say','person','write','report','week','harbour','offic','move','box'||(r.n%313),'today']) w)), 40, true
 from rev r join artifact a on a.namespace='default' and a.artifact_id=r.artifact_id;
insert into passage_embedding (namespace, passage_id, model_id, revision_id, is_latest, embedding)
 select 'default', p.passage_id, m.model_id, p.revision_id, true, m.v from passage p cross join (select model_id, (select array_agg(((i*7919)%101-50)/100.0) from generate_series(1,dimension) i)::vector v from embedding_model where is_active) m
 where p.namespace='default' and not exists (select from passage_embedding e where e.namespace=p.namespace and e.passage_id=p.passage_id);
set session_replication_role = origin;
vacuum analyze;
