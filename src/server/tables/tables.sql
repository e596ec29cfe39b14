-- What all tables of cairndb/server/tables share. Runs again without harm. The functions of one table are made in
-- table-sql.ts. cairn_rows has a copy of each row as a document: what readers see, and what devices derive from.
do $setup$
begin
perform set_config('client_min_messages', 'warning', true);
perform pg_advisory_xact_lock(hashtext('cairndb/server'));

-- Rows that other programs have changed since they were copied; id null: all rows of the table. Triggers insert here
-- and wait for nobody: the lock of the counter, which orders all changes, is taken by readers and devices alone.
if to_regclass('cairn_noted') is null then
  create table cairn_noted (
    place bigserial primary key,
    collection text collate "C" not null,
    id text collate "C"
  );
  create index cairn_noted_by_collection on cairn_noted (collection, place);
  create table cairn_tables (
    collection text collate "C" primary key,
    suffix text not null,  -- of its functions
    mapping text not null  -- hash of their text
  );
  alter table cairn_noted enable row level security;
  alter table cairn_tables enable row level security;
end if;

-- JSON of a column as the value of a document. An object with one key that begins with $ would be a wrapper, such as
-- {"$date":0}: others than those of Cairn get one.
create or replace function cairn_wrapped(value json) returns json language plpgsql immutable as $function$
declare
  kind text := json_typeof(value);
  fields text;
  first text;
  count int;
begin
  -- Text that json holds and no other type does, such as \u0000: left out, as one row must not stop all.
  if value::text ~* '\\u(0000|d[89a-f])' then
    begin
      perform value::jsonb;
    exception when others then return null;
    end;
  end if;
  if kind not in ('object', 'array') or value::text !~ '"(\$|__proto__")' then return value; end if;
  if kind = 'array' then
    return coalesce(
      (select json_agg(cairn_wrapped(a.item) order by a.place)
        from json_array_elements(value) with ordinality as a(item, place)), '[]');
  end if;
  select '{' || string_agg(to_json(f.key) || ':' || cairn_wrapped(f.item), ',' order by f.place) || '}',
    min(f.key), count(*) into fields, first, count
    from json_each(value) with ordinality as f(key, item, place) where f.key <> '__proto__';
  if count = 1 and first like '$%'
      and first not in ('$date', '$number', '$undefined', '$bigint', '$regexp', '$map', '$set', '$bytes', '$plain', '$sparse')
    then return '{"$plain":' || fields || '}'; end if;
  return coalesce(fields, '{}');
end $function$;

create or replace function cairn_bigint(value bigint) returns json language sql immutable as $function$
  select case
    when value between -9007199254740991 and 9007199254740991 then to_json(value)
    when value = -9223372036854775808 then '{"$bigint":"-8000000000000000"}'
    else json_build_object('$bigint', case when value < 0 then '-' else '' end || to_hex(abs(value))) end;
$function$;

create or replace function cairn_number(value numeric) returns json language sql immutable as $function$
  select case
    when value = 'NaN' then '{"$number":"NaN"}'
    when abs(value) < 1e308 then to_json(value::float8)
    else to_json(value::text) end;
$function$;

create or replace function cairn_float(value float8) returns json language sql immutable as $function$
  select case when value in ('NaN', 'Infinity', '-Infinity')
    then json_build_object('$number', value::text) else to_json(value) end;
$function$;

-- Times that JavaScript does not have are left out.
create or replace function cairn_time(value timestamptz) returns json language sql immutable as $function$
  select case when value between '-infinity' and '-infinity' or value >= '275760-01-01Z' then null
    else json_build_object('$date', floor(extract(epoch from value) * 1000)::bigint) end;
$function$;

-- The value of a document as JSON that Postgres makes a column of.
create or replace function cairn_column(value jsonb, kind text) returns jsonb language sql immutable as $function$
  select case
    when kind = 'json' or jsonb_typeof(value) <> 'object' then value
    when jsonb_typeof(value->'$date') = 'number' then to_jsonb(to_char(
      to_timestamp((value->>'$date')::float8 / 1000) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS')
      || case kind when 'timestamptz' then 'Z' else '' end)
    when value ? '$number' then value->'$number'
    when value->>'$bigint' ~ '^-?[0-9a-f]{1,16}$' then to_jsonb(
      (case when value->>'$bigint' like '-%' then -1 else 1 end)
      * (('x' || lpad(ltrim(value->>'$bigint', '-'), 16, '0'))::bit(64)::bigint)::numeric)
    when value->'$bytes' ? 'bytes' then to_jsonb('\x' || encode(decode(value->'$bytes'->>'bytes', 'base64'), 'hex'))
    else value end;
$function$;

-- Whether two documents have the same fields. A field that is null is none: a column knows no difference.
create or replace function cairn_same(one json, other json) returns boolean language sql immutable as $function$
  select one::text is not distinct from other::text or coalesce(
    (select jsonb_object_agg(a.key, a.value) from jsonb_each(one::jsonb) a where a.value <> 'null')
    = (select jsonb_object_agg(b.key, b.value) from jsonb_each(other::jsonb) b where b.value <> 'null'), false);
$function$;

-- Copies up to 1,000 rows that other programs have changed. @returns whether there are more.
create or replace function cairn_take(collection text) returns boolean language plpgsql volatile as $function$
#variable_conflict use_column
declare
  suffix text;
  ids text[];
  whole boolean;
  rows json;
begin
  -- A standby has what its primary has taken, until it is promoted.
  if current_setting('transaction_read_only') = 'on'
    or not exists (select from cairn_noted n where n.collection = cairn_take.collection) then return false; end if;
  select t.suffix into suffix from cairn_tables t where t.collection = cairn_take.collection;
  insert into cairn_collections values (cairn_take.collection, 0) on conflict do nothing;
  perform from cairn_collections c where c.collection = cairn_take.collection for update;
  with taken as (
    delete from cairn_noted n where n.place in (
      select o.place from cairn_noted o where o.collection = cairn_take.collection order by o.place limit 1000)
    returning n.id
  )
  select array_agg(distinct t.id) filter (where t.id is not null), coalesce(bool_or(t.id is null), false)
    into ids, whole from taken t;
  if whole then
    execute format('insert into cairn_noted (collection, id) select $1, i.id from (
      select cairn_ids_%1$s() as id
      union select r.id from cairn_rows r where r.collection = $1 and r.body is not null) i', suffix)
      using cairn_take.collection;
  end if;
  execute format('select json_agg(json_build_object(
      ''id'', i.id, ''base'', r.version, ''document'', s.body,
      ''key'', ''sql.'' || replace(gen_random_uuid()::text, ''-'', '''')))
    from unnest($2::text[]) as i(id)
    left join cairn_rows r on r.collection = $1 and r.id = i.id
    left join cairn_states_%1$s($2) s on s.id = i.id
    where not cairn_same(s.body, r.body) and octet_length(i.id) between 1 and 1500', suffix)
    into rows using cairn_take.collection, ids;
  if rows is not null then
    perform set_config('cairn.taking', 'on', true);
    perform cairn_push(cairn_take.collection, rows);
    perform set_config('cairn.taking', '', true);
  end if;
  return exists (select from cairn_noted n where n.collection = cairn_take.collection);
end $function$;

revoke all on function cairn_take(text) from public;
end $setup$;
