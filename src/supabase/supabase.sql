-- What supabase({ client, table }) of cairndb/supabase calls. Runs again without harm. Then, for each table:
--
--   select cairn_table('todos', array['owner']);
--
-- The second argument names the columns that policies and scopes look at. Functions that devices call have the rights of
-- the user who calls them: row level security decides what is read and written.
do $setup$
begin
perform set_config('client_min_messages', 'warning', true);
perform pg_advisory_xact_lock(hashtext('cairndb/supabase'));

-- The column of the primary key.
create or replace function cairn_table_key(rel regclass) returns text language plpgsql stable as $function$
declare
  names text[];
begin
  select array_agg(a.attname::text) into names from pg_index i
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = rel and i.indisprimary;
  if cardinality(names) = 1 then return names[1]; end if;
  raise exception 'The table % needs a primary key of one column.', rel using errcode = '42P16';
end $function$;

create or replace function cairn_table_named(tbl text) returns regclass language plpgsql stable as $function$
declare
  rel regclass := to_regclass(tbl);
begin
  if rel is null then raise exception 'There is no table %.', tbl using errcode = '42P01'; end if;
  return rel;
end $function$;

-- The table of what is deleted, or has gone from those who saw it.
create or replace function cairn_table_gone(rel regclass) returns text language sql stable as $function$
  select format('%I.%I', n.nspname, c.relname || '_gone')
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = rel;
$function$;

-- The columns that are fields, and the names of their types.
create or replace function cairn_table_fields(rel regclass) returns table (name text, type text)
language sql stable as $function$
  select a.attname::text, coalesce(b.typname, t.typname)::text
  from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_type b on b.oid = t.typbasetype
  where a.attrelid = rel and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity <> 'a'
    and a.attname not in ('_id', '_tx', '_version', '_keys', '_doc', '__proto__', cairn_table_key(rel))
  order by a.attnum;
$function$;

-- JSON of a column within a document: an object with one key that begins with $ would be a wrapper, such as {"$date":0}.
create or replace function cairn_table_wrapped(value jsonb) returns jsonb language plpgsql immutable as $function$
declare
  fields jsonb;
begin
  if jsonb_typeof(value) not in ('object', 'array') or value::text !~ '"(\$|__proto__)' then return value; end if;
  if jsonb_typeof(value) = 'array' then
    return (select coalesce(jsonb_agg(cairn_table_wrapped(a.item) order by a.place), '[]')
      from jsonb_array_elements(value) with ordinality as a(item, place));
  end if;
  select coalesce(jsonb_object_agg(f.key, cairn_table_wrapped(f.value)), '{}') into fields
    from jsonb_each(value) f where f.key <> '__proto__';
  if (select count(*) = 1 and min(f.key) like '$%' and min(f.key) not in
      ('$date', '$number', '$undefined', '$bigint', '$regexp', '$map', '$set', '$bytes', '$plain', '$sparse')
    from jsonb_each(fields) f) then return jsonb_build_object('$plain', fields); end if;
  return fields;
end $function$;

-- The value of a column, as to_jsonb has it, as that of a field; null: the field is left out.
create or replace function cairn_table_field(value jsonb, type text) returns jsonb language plpgsql stable as $function$
declare
  txt text := value #>> '{}';
  time timestamptz;
begin
  if txt is null then return null; end if;
  case
    when type in ('timestamptz', 'timestamp') then
      time := case type when 'timestamp' then txt::timestamp at time zone 'UTC' else txt::timestamptz end;
      -- Times that JavaScript does not have are left out.
      if time in ('-infinity', 'infinity') or time >= '275760-01-01Z' then return null; end if;
      return jsonb_build_object('$date', floor(extract(epoch from time) * 1000)::bigint);
    when type = 'bytea' then
      return jsonb_build_object('$bytes', jsonb_build_object('type', 'Uint8Array',
        'bytes', replace(encode(decode(substr(txt, 3), 'hex'), 'base64'), E'\n', '')));
    when type in ('int8', 'numeric', 'float4', 'float8') and jsonb_typeof(value) = 'string' then
      return jsonb_build_object('$number', txt);
    when type = 'int8' and abs(txt::numeric) > 9007199254740991 then
      return jsonb_build_object('$bigint', case when txt::numeric < 0 then '-' else '' end
        || case txt when '-9223372036854775808' then '8000000000000000' else to_hex(abs(txt::bigint)) end);
    when type in ('numeric', 'float8') then
      return case when abs(txt::numeric) < 1e308 then to_jsonb(txt::float8) else to_jsonb(txt) end;
    else return cairn_table_wrapped(value);
  end case;
end $function$;

-- The value of a field as jsonb_populate_record takes it for a column.
create or replace function cairn_table_column(value jsonb, type text) returns jsonb language sql immutable as $function$
  select case
    when type in ('json', 'jsonb') or jsonb_typeof(value) <> 'object' then value
    when jsonb_typeof(value->'$date') = 'number' then to_jsonb(to_char(
      to_timestamp((value->>'$date')::float8 / 1000) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS')
      || case type when 'timestamptz' then 'Z' else '' end)
    when value ? '$number' then value->'$number'
    when value->>'$bigint' ~ '^-?[0-9a-f]{1,16}$' then to_jsonb(
      (case when value->>'$bigint' like '-%' then -1 else 1 end)
      * (('x' || lpad(ltrim(value->>'$bigint', '-'), 16, '0'))::bit(64)::bigint)::numeric)
    when value->'$bytes' ? 'bytes' then to_jsonb('\x' || encode(decode(value->'$bytes'->>'bytes', 'base64'), 'hex'))
    else value end;
$function$;

-- The columns of a document.
create or replace function cairn_table_columns(rel regclass, doc json) returns jsonb language sql stable as $function$
  select coalesce(jsonb_object_agg(f.name, cairn_table_column((doc->f.name)::jsonb, f.type)), '{}')
  from cairn_table_fields(rel) f where doc->f.name is not null;
$function$;

-- What is pushed now, or another program has written: its key.
create or replace function cairn_table_pushed(id text) returns text language sql stable as $function$
  select case when current_setting('cairn.id', true) = id then nullif(current_setting('cairn.key', true), '') end;
$function$;

-- The last eight keys, newest first; '' in front: another program has written since.
create or replace function cairn_table_keys(pushed text, keys text[]) returns text[] language sql immutable as $function$
  select case when pushed is null then ''::text || (array_remove(keys, ''))[1:8]
    else (pushed || array_remove(keys, ''))[1:8] end;
$function$;

-- Before each write: keeps the document and its columns equal, and gives the row a place in the order of changes.
create or replace function cairn_table_stamp() returns trigger language plpgsql security definer
set search_path from current as $function$
declare
  own text[] := array['_tx', '_version', '_keys', '_doc'];
  id text := to_jsonb(new)->>cairn_table_key(tg_relid);
  pushed text := cairn_table_pushed(id);
  columns jsonb := to_jsonb(new) - own;
  before jsonb;
  doc json := new._doc;
  keys text[] := '{}';
  patch jsonb := '{}';
  field record;
  value jsonb;
begin
  if tg_op = 'UPDATE' then
    keys := old._keys;
    before := to_jsonb(old) - own;
    if pushed is null then
      if before = columns and old._doc is not null and old._tx <= pg_current_xact_id() then
        new._tx := old._tx; new._version := old._version; new._keys := old._keys; new._doc := old._doc;
        return new;
      end if;
      doc := old._doc;
      if doc is null then before := null; end if;
    end if;
  else
    execute format('select g._keys from %s g where g.%I::text = $1 order by g._tx desc limit 1',
      cairn_table_gone(tg_relid), cairn_table_key(tg_relid)) into keys using id;
    if pushed is null then doc := null; end if;
  end if;
  -- A push: what defaults and other triggers have made otherwise.
  if pushed is not null then
    before := to_jsonb(jsonb_populate_record(new, (select jsonb_object_agg(f.name, null::text) from cairn_table_fields(tg_relid) f)
      || cairn_table_columns(tg_relid, doc)));
  end if;
  for field in select * from cairn_table_fields(tg_relid) loop
    continue when before is not null and before->field.name = columns->field.name;
    value := cairn_table_field(columns->field.name, field.type);
    if value is distinct from (doc->field.name)::jsonb then patch := patch || jsonb_build_object(field.name, value); end if;
  end loop;
  if doc is null or patch <> '{}' or doc->>'_id' <> id then
    select json_object_agg(k.key, k.value order by k.place) into doc from (
      select 0 as place, '_id' as key, to_json(id) as value
      union all select 1, e.key, e.value from json_each(doc) e where e.key <> '_id' and not patch ? e.key
      union all select 2, p.key, p.value::json from jsonb_each(patch) p where p.value <> 'null'
    ) k;
  end if;
  new._doc := doc;
  new._tx := pg_current_xact_id();
  new._version := gen_random_uuid();
  new._keys := cairn_table_keys(pushed, coalesce(keys, '{}'));
  if pushed is not null then perform set_config('cairn.made', new._version::text, true); end if;
  return new;
end $function$;

-- Behind each write: notes what is deleted, and what those who saw the old row may not see any more.
create or replace function cairn_table_note() returns trigger language plpgsql security definer
set search_path from current as $function$
declare
  gone text := cairn_table_gone(tg_relid);
  key text := cairn_table_key(tg_relid);
  was jsonb;
  pushed text;
  version uuid := gen_random_uuid();
begin
  if tg_op = 'TRUNCATE' then
    execute format('insert into %s select g.* from %s r, jsonb_populate_record(null::%1$s, to_jsonb(r) || jsonb_build_object(
      ''_tx'', pg_current_xact_id()::text, ''_version'', gen_random_uuid(),
      ''_keys'', to_jsonb(cairn_table_keys(null, r._keys)))) g', gone, tg_relid::regclass);
    return null;
  end if;
  was := to_jsonb(old);
  if tg_op = 'UPDATE' and not exists (
    select from pg_attribute a where a.attrelid = gone::regclass and a.attnum > 0 and not a.attisdropped
      and a.attname not in ('_tx', '_version', '_keys')
      and was->a.attname is distinct from to_jsonb(new)->a.attname
  ) then return null; end if;
  pushed := case when tg_op = 'DELETE' then cairn_table_pushed(was->>key) end;
  -- One for each who saw it: policies tell them apart by the other columns.
  execute format('delete from %s g where g.%I::text = $1
    and to_jsonb(g) - array[''_tx'', ''_version'', ''_keys''] <@ $2', gone, key) using was->>key, was;
  execute format('insert into %s select * from jsonb_populate_record(null::%1$s, $1)', gone)
    using was || jsonb_build_object('_tx', pg_current_xact_id()::text, '_version', version,
      '_keys', to_jsonb(cairn_table_keys(pushed, old._keys)));
  if pushed is not null then perform set_config('cairn.made', version::text, true); end if;
  return null;
end $function$;

-- Makes a table one that devices share. Again after `by` has changed, and after a dump was restored.
create or replace function cairn_table(tbl text, by text[] default '{}') returns void language plpgsql as $function$
declare
  rel regclass := cairn_table_named(tbl);
  key text := cairn_table_key(rel);
  gone text := cairn_table_gone(rel);
  col text;
  grantee text;
begin
  execute format('alter table %s add column if not exists _tx xid8 not null default pg_current_xact_id(),
    add column if not exists _version uuid not null default gen_random_uuid(),
    add column if not exists _keys text[] not null default ''{}'', add column if not exists _doc text', rel);
  execute format('create table if not exists %s as select %I, _tx, _version, _keys from %s with no data', gone, key, rel);
  foreach col in array by loop
    execute format('alter table %s add column if not exists %I %s', gone, col, (select format_type(a.atttypid, a.atttypmod)
      from pg_attribute a where a.attrelid = rel and a.attname = col and not a.attisdropped));
  end loop;
  execute format('alter table %s enable row level security', gone);
  execute format('create index if not exists %I on %s (_tx, md5(%I::text))', 'cairn_' || rel::oid, rel, key);
  execute format('create index if not exists %I on %s (_tx, md5(%I::text))', 'cairn_gone_' || rel::oid, gone, key);
  execute format('create index if not exists %I on %s ((%I::text))', 'cairn_gone_key_' || rel::oid, gone, key);
  -- Who may read the table may read what has gone, as far as policies allow; nobody writes it.
  for grantee, col in select distinct case when a.grantee = 0 then 'public' else a.grantee::regrole::text end,
      case c.oid when rel then 'grant select on %s to %s' else 'revoke all on %s from %s' end
    from pg_class c, aclexplode(c.relacl) a
    where c.oid in (rel, gone::regclass) and a.grantee <> c.relowner and (c.oid <> rel or a.privilege_type = 'SELECT')
    order by 2 desc
  loop
    execute format(col, gone, grantee);
  end loop;
  execute format('drop trigger if exists zz_cairn on %s', rel);
  execute format('create trigger zz_cairn before insert or update on %s for each row execute function cairn_table_stamp()', rel);
  execute format('drop trigger if exists zz_cairn_gone on %s', rel);
  execute format('create trigger zz_cairn_gone after update or delete on %s for each row execute function cairn_table_note()', rel);
  execute format('drop trigger if exists zz_cairn_all on %s', rel);
  execute format('create trigger zz_cairn_all before truncate on %s for each statement execute function cairn_table_note()', rel);
  execute format('update %s set _keys = _keys where _doc is null or _tx > pg_current_xact_id()', rel);
  execute format('update %s set _tx = pg_current_xact_id() where _tx > pg_current_xact_id()', gone);
end $function$;

-- Which history places belong to: this table of this cluster, as this user sees it.
create or replace function cairn_table_epoch(rel regclass) returns text language plpgsql stable as $function$
declare
  place text := rel::oid || ' ' || (select d.oid from pg_database d where d.datname = current_database())
    || ' ' || current_user || ' ' || coalesce(nullif(current_setting('request.jwt.claims', true), '')::json->>'sub', '');
begin
  begin
    place := place || ' ' || (select c.system_identifier from pg_control_system() c);
    -- The control file knows the timeline of a promotion only after its next checkpoint.
    place := place || ' ' || case when pg_is_in_recovery()
      then lpad(to_hex((select c.timeline_id from pg_control_checkpoint() c)), 8, '0')
      else lower(left(pg_walfile_name(pg_current_wal_lsn()), 8)) end;
  exception when others then null; -- a role that may not ask does without it
  end;
  return left(md5(place), 16);
end $function$;

create or replace function cairn_table_change(id text, version uuid, keys text[], doc text) returns text
language sql immutable as $function$
  select '{"id":' || to_json(id) || ',"version":"' || version || '","key":'
    || to_json(case when length(keys[1]) between 1 and 200 then keys[1] else '-' end)
    || coalesce(',"document":' || doc, ',"deleted":true') || '}';
$function$;

-- The result that stands for one with a document which does not fit behind so many bytes; null: it fits.
create or replace function cairn_table_refusal(bytes int, doc text) returns json language sql immutable as $function$
  select case
    when octet_length(doc) > 15000000 then json_build_object('rejected', json_build_object(
      'reason', 'The document of the server is too large.'))
    when bytes >= 1000000 then json_build_object('rejected', json_build_object(
      'reason', 'Too many documents have changed: the others come by a pull.', 'retry', true))
  end where doc is not null;
$function$;

-- The changes after a checkpoint: { changes, checkpoint, more, reset?, behind?, rejected? }. Stable: all of it reads one snapshot.
--
-- Transactions commit in another order than they begin. So a page ends before the first one that is still open: what
-- comes later has a later place. `behind`: there is something that is visible, and has its place only after that.
create or replace function cairn_table_pull(
  tbl text, after text default null, "limit" int default 500, scope json default null
) returns json language plpgsql stable set search_path from current as $function$
declare
  rel regclass := cairn_table_named(tbl);
  key text := cairn_table_key(rel);
  gone text := cairn_table_gone(rel);
  epoch text := cairn_table_epoch(rel);
  safe xid8 := pg_snapshot_xmin(pg_current_snapshot());
  most int := least(greatest("limit", 1), 1000);
  tx xid8 := '0';
  hash text := '';
  reset boolean := after is not null;
  inside text := '';
  col text;
  changes text;
  large text;
  last_tx xid8;
  last_hash text;
  more boolean;
  behind boolean;
begin
  if after ~ '^[0-9a-f]{16}\.[0-9]{1,18}\.[0-9a-f]{0,32}$' and split_part(after, '.', 1) = epoch
      and split_part(after, '.', 2)::xid8 <= pg_snapshot_xmax(pg_current_snapshot()) then
    tx := split_part(after, '.', 2)::xid8;
    hash := split_part(after, '.', 3);
    reset := false;
  end if;
  if scope is not null then
    select e.key into col from json_each(scope) e;
    perform from pg_attribute a where a.attrelid = to_regclass(gone) and a.attname = col and a.attnum > 0
      and a.attname not in ('_tx', '_version', '_keys');
    if not found then
      raise exception 'No scope of % is by "%": name the column in cairn_table().', rel, col using errcode = '22023';
    end if;
    inside := format(' and r.%I = %L', col, scope->>col);
  end if;
  execute format(
    'with page as (
      select p.*, row_number() over numbered <= $1 and sum(p.size) over numbered - p.size < 1000000 as fits
      from (
        (select r._tx as tx, md5(r.%3$I::text) as hash, octet_length(r._doc) as size, r.%3$I::text as id,
          cairn_table_change(r.%3$I::text, r._version, r._keys, r._doc) as change
        from %1$s r where r._tx < $2 and (r._tx, md5(r.%3$I::text)) > ($3, $4)%4$s
        order by r._tx, md5(r.%3$I::text) limit $1 + 1)
        union all
        (select r._tx, md5(r.%3$I::text), 0, null, case when exists (select from %1$s o where o.%3$I = r.%3$I)
          then replace(cairn_table_change(r.%3$I::text, r._version, r._keys, null), ''"deleted":true'', ''"left":true,"deleted":true'')
          else cairn_table_change(r.%3$I::text, r._version, r._keys, null) end
        from %2$s r where r._tx < $2 and (r._tx, md5(r.%3$I::text)) > ($3, $4)%4$s
          and not exists (select from (select o.* from %1$s o where o.%3$I = r.%3$I) r where true%4$s)
        order by r._tx, md5(r.%3$I::text) limit $1 + 1)
      ) p window numbered as (order by p.tx, p.hash, p.size)
    )
    select coalesce(string_agg(p.change, '','' order by p.tx, p.hash, p.size) filter (where p.fits and p.size <= 15000000), ''''),
      string_agg(''{"id":'' || to_json(p.id) || '',"reason":"The document of the server is too large."}'', '','')
        filter (where p.fits and p.size > 15000000),
      (array_agg(p.tx order by p.tx desc, p.hash desc) filter (where p.fits))[1],
      (array_agg(p.hash order by p.tx desc, p.hash desc) filter (where p.fits))[1],
      coalesce(bool_or(not p.fits), false) from page p', rel, gone, key, inside)
    into changes, large, last_tx, last_hash, more using most, safe, tx, hash;
  if not more then
    execute format('select exists (select from %s r where r._tx >= $1%3$s) or exists (select from %2$s r where r._tx >= $1%3$s)',
      rel, gone, inside) into behind using safe;
    if behind then
      execute format('select exists (select from %s r where r._tx > pg_snapshot_xmax(pg_current_snapshot()))', rel) into more;
      if more then
        raise exception 'The table % was restored: call cairn_table() again.', rel using errcode = '55000';
      end if;
    end if;
    if safe >= tx then last_tx := safe; last_hash := '';
    else last_tx := tx; last_hash := hash; end if;
  end if;
  return '{"changes":[' || changes || '],"checkpoint":"' || epoch || '.' || last_tx || '.' || last_hash
    || '","more":' || more || coalesce(',"rejected":[' || large || ']', '') || case when reset then ',"reset":true' else '' end
    || case when behind then ',"behind":true' else '' end
    || case when scope is null then '}' else ',"scoped":true}' end;
end $function$;

-- Makes rows [{ id, base, key, document | deleted }] by compare-and-set; answers a list of { version, document? },
-- { conflict } or { rejected }. Row level security decides about each.
create or replace function cairn_table_push(tbl text, rows json) returns json
language plpgsql volatile set search_path from current as $function$
declare
  rel regclass := cairn_table_named(tbl);
  key text := cairn_table_key(rel);
  gone text := cairn_table_gone(rel);
  idtype text := (select format_type(a.atttypid, null) from pg_attribute a where a.attrelid = rel and a.attname = key);
  pushed record;
  held text;
  keys text[];
  doc text;
  seen text;
  refusal text;
  names text[];
  result json;
  results json[] := array_fill(null::json, array[json_array_length(rows)]);
  count int;
  writing boolean;
  bytes int := 0; -- of the documents in the results
begin
  -- In the order of ids: so two pushes never wait for each other.
  for pushed in
    select x.row->>'id' as id, x.row->>'base' as base, x.row->>'key' as key, x.row->'document' as document, x.place
    from json_array_elements(rows) with ordinality as x(row, place) order by x.row->>'id' collate "C", x.place
  loop
    result := null;
    seen := null;
    refusal := null;
    while result is null loop
      begin
        writing := false;
        held := null; keys := null; doc := null;
        execute format('select r._version::text, r._keys, r._doc from %s r where r.%I = $1::%s', rel, key, idtype)
          into held, keys, doc using pushed.id;
        if held is null then
          execute format('select g._version::text, g._keys from %s g where g.%I::text = $1 order by g._tx desc limit 1', gone, key)
            into held, keys using pushed.id;
        end if;
        held := coalesce(held, 'none');
        if pushed.key = any (keys) then -- made before
          result := case
            when doc is null then json_build_object('version', held, 'document', null)
            when keys[1] = pushed.key and doc = pushed.document::text then json_build_object('version', held)
            else coalesce(cairn_table_refusal(bytes, doc), json_build_object('version', held, 'document', doc::json)) end;
        elsif pushed.document is null and doc is null then
          result := json_build_object('version', held);
        elsif coalesce(pushed.base, 'none') <> held and not (pushed.base is null and doc is null) then
          result := coalesce(cairn_table_refusal(bytes, doc), json_build_object('conflict', case when held = 'none'
            then json_build_object('id', pushed.id, 'version', held, 'deleted', true)
            else cairn_table_change(pushed.id, held::uuid, keys, doc)::json end));
        elsif held = seen then
          -- Nobody has changed it, and nothing was written.
          result := json_build_object('rejected', json_build_object('reason',
            coalesce(refusal, 'The database does not let you write this document.')));
        else
          seen := held;
          writing := true;
          perform set_config('cairn.id', pushed.id, true), set_config('cairn.key', pushed.key, true),
            set_config('cairn.made', '', true);
          if pushed.document is null then
            execute format('delete from %s r where r.%I = $1::%s and r._version = $2::uuid', rel, key, idtype)
              using pushed.id, held;
          else
            -- What the page has not changed keeps its value in the table, to the last digit.
            select coalesce(array_agg(quote_ident(f.name)), '{}') into names from cairn_table_fields(rel) f
              where (pushed.document->f.name)::jsonb is distinct from (doc::json->f.name)::jsonb;
            if doc is not null then
              execute format('update %1$s r set _doc = $3%4$s
                from jsonb_populate_record(null::%1$s, $4) v where r.%2$I = $1::%3$s and r._version = $2::uuid', rel, key, idtype,
                (select coalesce(string_agg(', ' || n || ' = v.' || n, ''), '') from unnest(names) n))
                using pushed.id, held, pushed.document::text, cairn_table_columns(rel, pushed.document);
            else
              execute format('insert into %1$s (%2$I, _doc%4$s) select $1::%3$s, $2%5$s
                from jsonb_populate_record(null::%1$s, $3) v', rel, key, idtype,
                (select coalesce(string_agg(', ' || n, ''), '') from unnest(names) n),
                (select coalesce(string_agg(', v.' || n, ''), '') from unnest(names) n))
                using pushed.id, pushed.document::text, cairn_table_columns(rel, pushed.document);
            end if;
          end if;
          get diagnostics count = row_count;
          perform set_config('cairn.id', '', true);
          if count > 0 then
            held := current_setting('cairn.made', true);
            doc := null;
            execute format('select r._doc from %s r where r.%I = $1::%s', rel, key, idtype) into doc using pushed.id;
            result := case when pushed.document is null or doc is null or doc = pushed.document::text
              then json_build_object('version', held)
              else json_build_object('version', held, 'document', doc::json) end;
            -- Takes the write back.
            if result->'document' is not null and cairn_table_refusal(bytes, doc) is not null then
              raise exception 'It does not fit.' using errcode = 'CA413';
            end if;
          end if;
        end if;
      exception when others then
        perform set_config('cairn.id', '', true);
        refusal := case
          when sqlstate ~ '^(22|23|54)' then 'The database refuses it (SQLSTATE ' || sqlstate || ').'
          when sqlstate = '42501' then 'You may not write this document (SQLSTATE 42501).'
          else left(sqlerrm, 1000) end;
        -- Another device may have made it meanwhile: then it is there at the next look.
        if sqlstate = '23505' and writing then null;
        elsif sqlstate = 'CA413' then result := cairn_table_refusal(bytes, doc);
        -- What passes, and what is wrong with the table, is not the fault of one document.
        elsif sqlstate !~ '^(08|25|40|42|53|55|57|58|XX)' or (sqlstate = '42501' and writing) then
          result := json_build_object('rejected', json_build_object('reason', refusal));
        else raise; end if;
      end;
    end loop;
    if result->'conflict'->'document' is not null or result->'document' is not null then
      bytes := bytes + coalesce(octet_length(doc), 0);
    end if;
    results[pushed.place] := result;
  end loop;
  return to_json(results);
end $function$;
end $setup$;
