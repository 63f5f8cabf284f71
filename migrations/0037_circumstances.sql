-- Whether somebody with a name said it who may be another than the user: it counts where nearly all that is wanted is by that author.
-- And whether it is no directive but a circumstance that requests may depend on, which is shown for those that it surely bears on.
alter table directive
    add column by_somebody boolean not null default false,
    add column is_circumstance boolean not null default false;

-- What stands in briefings and is read for every question, however many circumstances there are.
create index directive_stated on directive (namespace) where not is_circumstance;
