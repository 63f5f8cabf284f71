-- A second vector of a directive, by which requests are near that it bears on whatever words they share, and the version of the
-- model that made it; null until it is computed.
alter table directive
    add column bearing_version smallint,
    add column bearing vector,
    add constraint directive_bearing_check check ((bearing_version is null) = (bearing is null)),
    -- Both are read for each question: beside the row, not in a table of their own.
    alter column embedding set storage main,
    alter column bearing set storage main;
