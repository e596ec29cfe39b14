-- Tables and functions of cairndb/server. Runs again without harm, and in several sessions at once. One statement, as
-- drivers differ in how they run several. Names resolve by the search path.
--
-- Row level security is on and there are no policies: only the owner of the tables, who runs this file, sees rows.
-- What a database API, such as that of Supabase, lets other roles call reads and writes nothing.
do $setup$
begin
perform set_config('client_min_messages', 'warning', true);
perform pg_advisory_xact_lock(hashtext('cairndb/server'));

-- Asked first: each of these statements waits for running pushes, even where there is nothing to do.
if to_regclass('cairn_rows') is null then
  create table cairn_collections (
    collection text collate "C" primary key,
    seq bigint not null -- number of the newest change
  );

  -- Which history a number belongs to. A new epoch begins with the first change after a start of the server: a copy of
  -- the files that was restored is started too, and its numbers mean other changes from then on.
  create table cairn_epochs (
    collection text collate "C" not null,
    from_seq bigint not null,
    epoch text not null,
    started text not null,
    primary key (collection, from_seq)
  );

  create table cairn_rows (
    collection text collate "C" not null,
    id text collate "C" not null,
    version text not null,
    seq bigint not null,
    keys text[] not null,     -- idempotency keys, newest first: of the last eight pushes, the last of other devices
    versions text[] not null, -- made by these
    body json,                -- null: deleted. Not jsonb, which changes the order of keys
    size int not null,        -- of the body: a page ends by bytes without reading further bodies
    primary key (collection, id)
  );
  create unique index cairn_rows_by_seq on cairn_rows (collection, seq);

  alter table cairn_collections enable row level security;
  alter table cairn_epochs enable row level security;
  alter table cairn_rows enable row level security;
end if;

-- The documents that clients of a scope have had: when one of them changes and does not match, they are told.
if to_regclass('cairn_scoped') is null then
  create table cairn_scoped (
    collection text collate "C" not null,
    scope text collate "C" not null,
    id text collate "C" not null,
    primary key (collection, scope, id)
  );
  alter table cairn_scoped enable row level security;
end if;

-- Where these tables are: the cluster, its timeline, the database, the table. Restored and promoted copies differ.
-- A role that may not ask for one of them does without it.
create or replace function cairn_place() returns text language plpgsql stable as $function$
declare
  place text := 'cairn_rows'::regclass::oid
    || ' ' || (select d.oid from pg_database d where d.datname = current_database());
begin
  begin
    place := place || ' ' || (select c.system_identifier from pg_control_system() c);
  exception when others then null;
  end;
  begin
    -- The control file knows the timeline of a promotion only after its next checkpoint.
    place := place || ' ' || case when pg_is_in_recovery()
      then lpad(to_hex((select c.timeline_id from pg_control_checkpoint() c)), 8, '0')
      else lower(left(pg_walfile_name(pg_current_wal_lsn()), 8)) end;
  exception when others then null;
  end;
  return place;
end $function$;

create or replace function cairn_epoch(collection text, seq bigint) returns text
language plpgsql stable as $function$
#variable_conflict use_column
begin
  return coalesce((
    select left(md5(e.epoch || ' ' || cairn_place()), 16) from cairn_epochs e
    where e.collection = cairn_epoch.collection and e.from_seq <= cairn_epoch.seq
    order by e.from_seq desc limit 1
  ), '0');
end $function$;

-- JSON as text: json_build_object and json_agg took three times as long for a page.
create or replace function cairn_change(
  id text, version text, keys text[], body json
) returns text language sql stable as $function$
  select '{"id":' || to_json(id) || ',"version":' || to_json(version)
    || ',"key":' || coalesce(to_json(keys[1])::text, 'null')
    || coalesce(',"document":' || body::text, ',"deleted":true') || '}';
$function$;

-- The result that stands for one with a document which does not fit behind so many bytes; null: it fits.
create or replace function cairn_refusal(bytes int, size int) returns json language sql immutable as $function$
  select case
    when size > 15000000 then json_build_object('rejected', json_build_object(
      'reason', 'The document of the server is too large.'))
    when size > 0 and bytes >= 1000000 then json_build_object('rejected', json_build_object(
      'reason', 'Too many documents have changed: the others come by a pull.', 'retry', true))
  end;
$function$;

-- The number of a checkpoint; null: it belongs to another history.
create or replace function cairn_seq_of(collection text, checkpoint text) returns bigint
language plpgsql stable as $function$
#variable_conflict use_column
declare
  asked bigint;
begin
  if checkpoint !~ '^[0-9a-f]{1,32}\.[0-9]{1,15}$' then
    raise exception 'The checkpoint is not one of this server.' using errcode = '22023';
  end if;
  asked := split_part(checkpoint, '.', 2);
  if checkpoint = '0.0' then return 0; end if;
  if cairn_epoch(cairn_seq_of.collection, asked) <> split_part(checkpoint, '.', 1) then return null; end if;
  if asked > coalesce(
    (select c.seq from cairn_collections c where c.collection = cairn_seq_of.collection), 0
  ) then return null; end if;
  return asked;
end $function$;

-- The changes after a checkpoint: { changes, checkpoint, more, reset? }. Stable: all of it reads one snapshot.
create or replace function cairn_pull(
  collection text, after text default null, "limit" int default 500
) returns json language plpgsql stable as $function$
#variable_conflict use_column
declare
  newest bigint := coalesce(
    (select c.seq from cairn_collections c where c.collection = cairn_pull.collection), 0);
  start bigint := coalesce(cairn_seq_of(cairn_pull.collection, coalesce(after, '0.0')), -1);
  most int := least(greatest("limit", 1), 1000);
  changes text;
  large text;
  last bigint;
  more boolean;
begin
  select coalesce(string_agg(cairn_change(p.id, p.version, p.keys, p.body), ',' order by p.seq)
      filter (where p.fits and p.size <= 15000000), ''),
    string_agg('{"id":' || to_json(p.id) || ',"reason":"The document of the server is too large."}', ',')
      filter (where p.fits and p.size > 15000000),
    max(p.seq) filter (where p.fits), coalesce(bool_or(not p.fits), false)
  into changes, large, last, more
  from (
    select r.*, row_number() over numbered <= most
      and sum(r.size) over numbered - r.size < 1000000 as fits
    from (
      select n.* from cairn_rows n
      where n.collection = cairn_pull.collection and n.seq > greatest(start, 0)
      order by n.seq limit most + 1
    ) r
    window numbered as (order by r.seq)
  ) p;
  if not more then last := newest; end if;
  return '{"changes":[' || changes
    || '],"checkpoint":"' || cairn_epoch(cairn_pull.collection, last) || '.' || last
    || '","more":' || more || coalesce(',"rejected":[' || large || ']', '') || case when start < 0 then ',"reset":true}' else '}' end;
end $function$;

-- Whether a pull after the checkpoint returns something.
create or replace function cairn_changed(collection text, after text) returns boolean
language plpgsql stable as $function$
#variable_conflict use_column
begin
  return coalesce(cairn_seq_of(cairn_changed.collection, after) < (
    select c.seq from cairn_collections c where c.collection = cairn_changed.collection
  ), after <> '0.0');
end $function$;

-- The stored rows with these ids, and their keys.
create or replace function cairn_read(collection text, ids text[]) returns json
language plpgsql stable as $function$
#variable_conflict use_column
begin
  return (
    select coalesce(json_agg(json_build_object(
      'id', r.id, 'version', r.version, 'keys', r.keys, 'versions', r.versions, 'document', r.body)), '[]')
    from cairn_rows r where r.collection = cairn_read.collection and r.id = any(ids)
  );
end $function$;

-- Remembers that clients of a scope have documents, and tells which others some have had.
create or replace function cairn_served(collection text, scope text, ids json, asked json) returns json
language plpgsql volatile as $function$
#variable_conflict use_column
begin
  insert into cairn_scoped
    select cairn_served.collection, cairn_served.scope, i.id from json_array_elements_text(ids) as i(id)
    order by i.id on conflict do nothing;
  return (
    select coalesce(json_agg(s.id), '[]') from cairn_scoped s
    where s.collection = cairn_served.collection and s.scope = cairn_served.scope
      and s.id in (select json_array_elements_text(asked))
  );
end $function$;

-- The indexes of the keys that are remembered: the first eight, and the first one of each other device. A key is
-- `<device>.<random>`; keys of others share one device.
create or replace function cairn_remembered(keys text[]) returns int[] language sql immutable as $function$
  select array_agg(k.place order by k.place) from (
    select n.place from (
      select o.place, row_number() over (
        partition by case when position('.' in o.key) > 0 then split_part(o.key, '.', 1) else '' end order by o.place
      ) as nth
      from unnest(keys) with ordinality as o(key, place)
    ) n
    where n.place <= 8 or n.nth = 1
    order by n.place limit 256
  ) k;
$function$;

-- Makes rows [{ id, base, key, document, seen? }] by compare-and-set; answers a list of { version, document? },
-- { conflict } or { stale }. The lock of the counter makes the order of commits that of the numbers.
create or replace function cairn_push(collection text, rows json) returns json
language plpgsql volatile as $function$
#variable_conflict use_column
declare
  random text := left(replace(gen_random_uuid()::text, '-', ''), 12);
  began text := extract(epoch from pg_postmaster_start_time())::text;
  seq_before bigint;
  last bigint;
  pushed record;
  present cairn_rows;
  held text;
  made text;
  place int;
  keys text[];
  versions text[];
  kept int[];
  result json;
  results json[] := '{}';
  bytes int := 0; -- of the documents in the results
begin
  select c.seq into last from cairn_collections c
    where c.collection = cairn_push.collection for update;
  if not found then
    insert into cairn_collections values (cairn_push.collection, 0) on conflict do nothing;
    select c.seq into last from cairn_collections c
      where c.collection = cairn_push.collection for update;
  end if;
  seq_before := last;

  for pushed in
    select x.* from rows from (
      json_to_recordset(cairn_push.rows) as (id text, base text, key text, document json, seen text)
    ) with ordinality as x(id, base, key, document, seen, place) order by x.place
  loop
    present := null;
    select r.* into present from cairn_rows r
      where r.collection = cairn_push.collection and r.id = pushed.id;
    held := coalesce(present.version, '0');
    place := array_position(present.keys, pushed.key);
    if place is not null then -- made before
      made := present.versions[place];
      -- Operations may have made another document than was pushed.
      if present.body is null or (place = 1 and present.body::text = pushed.document::text) then
        result := json_build_object('version', made);
      elsif cairn_refusal(bytes, present.size) is not null then
        result := cairn_refusal(bytes, present.size);
      else
        bytes := bytes + present.size;
        result := json_build_object('version', held, 'document', present.body, 'made', made);
      end if;
    elsif pushed.seen <> held then
      result := json_build_object('stale', true);
    elsif pushed.document is null and present.body is null then
      result := json_build_object('version', held);
    elsif coalesce(pushed.base, '0') <> held
        and not (coalesce(pushed.base, '0') = '0' and present.body is null) then
      if cairn_refusal(bytes, present.size) is not null then
        result := cairn_refusal(bytes, present.size);
      else
        bytes := bytes + coalesce(present.size, 0);
        result := json_build_object('conflict', case when present.id is null
          then json_build_object('id', pushed.id, 'version', '0', 'deleted', true)
          else cairn_change(present.id, present.version, present.keys, present.body)::json end);
      end if;
    else
      last := last + 1;
      made := last || '-' || random;
      keys := pushed.key || present.keys;
      versions := made || present.versions;
      if cardinality(keys) > 8 then
        kept := cairn_remembered(keys);
        select array_agg(keys[k] order by n), array_agg(versions[k] order by n) into keys, versions
          from unnest(kept) with ordinality as o(k, n);
      end if;
      insert into cairn_rows (collection, id, version, seq, keys, versions, body, size)
      values (cairn_push.collection, pushed.id, made, last, keys, versions,
        pushed.document, coalesce(octet_length(pushed.document::text), 0))
      on conflict (collection, id) do update set version = excluded.version, seq = excluded.seq,
        keys = excluded.keys, versions = excluded.versions, body = excluded.body, size = excluded.size;
      result := json_build_object('version', made);
    end if;
    results := results || result;
  end loop;

  if last > seq_before then
    update cairn_collections c set seq = last where c.collection = cairn_push.collection;
    if began is distinct from (
      select e.started from cairn_epochs e where e.collection = cairn_push.collection
      order by e.from_seq desc limit 1
    ) then
      insert into cairn_epochs values (
        cairn_push.collection,
        case when exists (
          select from cairn_epochs e where e.collection = cairn_push.collection
        ) then seq_before + 1 else 0 end,
        random, began
      );
    end if;
    perform pg_notify('cairn', last || ' ' || left(cairn_push.collection, 1000));
  end if;
  return to_json(results);
end $function$;

revoke all on function cairn_pull(text, text, int) from public;
revoke all on function cairn_read(text, text[]) from public;
revoke all on function cairn_served(text, text, json, json) from public;
revoke all on function cairn_push(text, json) from public;
end $setup$;
