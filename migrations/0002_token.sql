-- Who may spend the operator's money at hosted providers. The secret itself is never stored.
create table token (
    -- Public: stands in lists and logs.
    id text primary key check (length(id) = 16),
    name text not null check (length(name) between 1 and 100),
    -- SHA-256 of the 256-bit secret.
    secret_sha256 blob not null check (length(secret_sha256) = 32),
    -- What its runs may cost in a UTC day, routed, in picodollars.
    daily_budget_picousd integer not null check (daily_budget_picousd >= 0),
    -- Slugs with commas between them; null for every provider.
    providers text,
    created_at text not null check (created_at like '____-__-__T%Z'),
    revoked_at text check (revoked_at like '____-__-__T%Z')
) strict;
