-- What a run of a token may cost is taken from its day's budget before anything is created, and settled when every
-- sandbox of the run is paid for.
create table reservation (
    run_id text primary key references run (id),
    token_id text not null references token (id),
    -- The UTC day of the reservation.
    day text not null check (day like '____-__-__'),
    reserved_picousd integer not null check (reserved_picousd >= 0),
    -- Null until it is known; the whole reservation counts until then, and for ever where the run was interrupted.
    settled_picousd integer check (settled_picousd between 0 and reserved_picousd)
) strict, without rowid;

create index reservation_by_day on reservation (token_id, day);
