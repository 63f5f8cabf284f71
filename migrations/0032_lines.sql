-- A text that says itself who speaks ("Ann: …") and has no conversation: which others it was stored with, one after the other, and its
-- place among them. What was stored before has none.
alter table artifact_revision add column line_of bigint, add column line_index integer, add column line_speaker text;

create index artifact_revision_line on artifact_revision (namespace, line_of, line_index) where line_of is not null;
