-- The fault that was ordered for a run, to see what follows it; null where none was.
alter table run add column drill text
    check (drill in ('refuses', 'hangs', 'fails_after_start', 'rate_limits'));
