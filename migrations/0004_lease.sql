-- A sandbox that we owe a teardown. Written before it is asked for, open until its destruction is confirmed.
create table lease (
    -- A name that no other sandbox has: it tags the sandbox at the provider.
    id text primary key check (length(id) = 32),
    run_id text not null references run (id),
    attempt integer not null check (attempt >= 1),
    provider text not null,
    -- The provider's own name for the sandbox, once it has said one.
    handle text,
    -- open: owed; nothing: none was made; paid: it is certainly gone.
    state text not null check (state in ('open', 'nothing', 'paid')),
    created_at text not null check (created_at like '____-__-__T%Z'),
    -- When create was answered: from here on it costs.
    answered_at text check (answered_at like '____-__-__T%Z'),
    -- When the attempt was over and teardown began.
    ended_at text check (ended_at like '____-__-__T%Z'),
    -- When the platform itself must have killed it.
    kill_at text not null check (kill_at like '____-__-__T%Z'),
    paid_at text check (paid_at like '____-__-__T%Z'),
    -- Times that destroying it failed.
    failures integer not null default 0 check (failures >= 0),
    -- The size that is billed, and what it cost in the end.
    vcpu text not null,
    memory_gib text not null,
    disk_gib text not null,
    cost_list_picousd integer check (cost_list_picousd >= 0),
    cost_routed_picousd integer check (cost_routed_picousd >= 0),
    foreign key (run_id, attempt) references attempt (run_id, number),
    unique (run_id, attempt),
    check ((state = 'paid') = (paid_at is not null))
) strict;

create index lease_owed on lease (state) where state = 'open';

create trigger a_paid_lease_never_changes before update on lease when old.state <> 'open'
begin select raise(abort, 'a lease that is paid never changes'); end;
create trigger a_lease_is_never_deleted before delete on lease
begin select raise(abort, 'a lease is never deleted'); end;
