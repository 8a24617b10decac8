-- A request to execute code: what was asked for, and what became of it. It cannot change once it is final.
create table run (
    -- 128 random bits, hexadecimal: whoever knows it may read the receipt.
    id text primary key check (length(id) = 32),
    state text not null check (state in ('queued', 'running', 'final')),
    outcome text check (outcome in
        ('completed', 'timed_out', 'interrupted', 'unavailable', 'refused', 'cancelled')),
    refusal text,
    token_id text references token (id),
    -- Unique for its token: the same request under the same key is the same run.
    idempotency_key text check (length(idempotency_key) between 1 and 200),
    -- SHA-256 of everything that was asked for, to tell a repetition from another request under the same key.
    request_sha256 blob not null check (length(request_sha256) = 32),
    -- SHA-256 of the secret by which whoever started it may cancel it.
    cancel_sha256 blob not null check (length(cancel_sha256) = 32),
    language text not null check (language in ('python', 'javascript', 'bash')),
    code_sha256 text not null check (length(code_sha256) = 64),
    code_bytes integer not null check (code_bytes >= 0),
    timeout_ms integer not null check (timeout_ms > 0),
    -- Slugs with commas between them, in order; null for everybody.
    providers text,
    fallback integer not null check (fallback in (0, 1)),
    isolation_at_least text not null
        check (isolation_at_least in ('process', 'container', 'virtual_machine', 'wasm')),
    isolation_from text not null check (isolation_from in ('asked', 'default')),
    egress text not null check (egress in ('none', 'open')),
    max_cost_picousd integer check (max_cost_picousd >= 0),
    provider text,
    exit_code integer,
    output_mode text check (output_mode in ('live', 'at_end')),
    duration_ms integer check (duration_ms >= 0),
    requested_at text not null check (requested_at like '____-__-__T%Z'),
    deadline_at text check (deadline_at like '____-__-__T%Z'),
    final_at text check (final_at like '____-__-__T%Z'),
    quote_list_picousd integer not null check (quote_list_picousd >= 0),
    quote_routed_picousd integer not null check (quote_routed_picousd >= 0),
    -- A list of provider and reason.
    not_tried text not null default '[]' check (json_valid(not_tried)),
    check ((state = 'final') = (outcome is not null)),
    check ((state = 'final') = (final_at is not null)),
    check (idempotency_key is null or token_id is not null),
    unique (token_id, idempotency_key)
) strict;

create index run_by_token on run (token_id, requested_at, id);
create index run_under_way on run (state) where state <> 'final';

-- One try at one provider.
create table attempt (
    run_id text not null references run (id),
    number integer not null check (number >= 1),
    provider text not null,
    outcome text check (outcome in
        ('completed', 'timed_out', 'interrupted', 'unavailable', 'cancelled')),
    stage text not null check (stage in ('create', 'start', 'confirm', 'run', 'done')),
    -- Written before any code is sent: after a crash it says whether code may have run.
    code_started integer not null check (code_started in (0, 1)),
    http_status integer check (http_status between 100 and 599),
    reason text,
    next text check (next in ('final', 'failed_over', 'no_candidate_left', 'fallback_off', 'deadline')),
    tier text not null check (tier in ('process', 'container', 'virtual_machine', 'wasm')),
    tier_evidence text not null check (tier_evidence in ('confirmed', 'declared')),
    egress text not null check (egress in ('none', 'open')),
    egress_evidence text not null check (egress_evidence in ('confirmed', 'declared')),
    started_at text not null check (started_at like '____-__-__T%Z'),
    -- From its start until the sandbox was there.
    start_ms integer check (start_ms >= 0),
    duration_ms integer check (duration_ms >= 0),
    primary key (run_id, number)
) strict, without rowid;

create index attempt_by_time on attempt (started_at, provider);

-- What the code was and wrote: hostile, and deleted before the record is.
create table output (
    run_id text primary key references run (id),
    code text not null,
    -- Null until the run is final.
    stdout text,
    stderr text,
    stdout_dropped_bytes integer not null default 0 check (stdout_dropped_bytes >= 0),
    stderr_dropped_bytes integer not null default 0 check (stderr_dropped_bytes >= 0),
    delete_at text not null check (delete_at like '____-__-__T%Z')
) strict, without rowid;

create index output_by_end on output (delete_at);

create trigger a_final_run_never_changes before update on run when old.state = 'final'
begin select raise(abort, 'a final run never changes'); end;
create trigger a_run_is_never_deleted before delete on run
begin select raise(abort, 'a run is never deleted'); end;
create trigger an_attempt_of_a_final_run_never_changes before update on attempt
when (select state from run where id = old.run_id) = 'final'
begin select raise(abort, 'a final run never changes'); end;
create trigger a_final_run_gets_no_attempt before insert on attempt
when (select state from run where id = new.run_id) = 'final'
begin select raise(abort, 'a final run never changes'); end;
create trigger an_attempt_is_never_deleted before delete on attempt
begin select raise(abort, 'an attempt is never deleted'); end;
