-- Every catalog that this site has published, so that a past day can be shown and two revisions compared.
-- Append-only: the triggers below refuse to change or delete what was published.
create table catalog_revision (
    -- Counts from 1 in the order of publication.
    number integer primary key,
    -- SHA-256 of all files, hexadecimal. Not unique: a revert publishes an old digest again.
    digest text not null check (length(digest) = 64),
    -- RFC 3339, UTC: when this site first saw the files in this state.
    published_at text not null check (published_at like '____-__-__T%Z')
) strict;

-- The provider files of a revision as they stood.
create table catalog_file (
    revision integer not null references catalog_revision (number),
    slug text not null,
    content text not null,
    primary key (revision, slug)
) strict, without rowid;

create trigger catalog_revision_is_never_edited before update on catalog_revision
begin select raise(abort, 'a catalog revision is never edited'); end;
create trigger catalog_revision_is_never_deleted before delete on catalog_revision
begin select raise(abort, 'a catalog revision is never deleted'); end;
create trigger catalog_file_is_never_edited before update on catalog_file
begin select raise(abort, 'a catalog revision is never edited'); end;
create trigger catalog_file_is_never_deleted before delete on catalog_file
begin select raise(abort, 'a catalog revision is never deleted'); end;
