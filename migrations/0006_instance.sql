-- Who this site is at the providers: its sandboxes carry the name, so that two sites with one key never destroy each other's.
-- One row, made at the first start.
create table instance (
    only integer primary key check (only = 1),
    id text not null check (length(id) = 16),
    made_at text not null check (made_at like '____-__-__T%Z')
) strict;

create trigger an_instance_never_changes before update on instance
begin select raise(abort, 'an instance never changes'); end;
