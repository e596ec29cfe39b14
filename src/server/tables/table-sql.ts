export interface TableColumn {
  readonly name: string;
  /** As an identifier of SQL. */
  readonly quoted: string;
  /** Name of its type, of the base type of a domain. */
  readonly type: string;
  /** Of an array, the type of its elements. */
  readonly element: string | null;
  /** Postgres computes it. */
  readonly generated: boolean;
  /** Whether it alone tells rows apart. */
  readonly unique: boolean;
}

/** A table whose rows are the documents of a collection. */
export interface MappedTable {
  readonly collection: string;
  /** Of its functions: hexadecimal digits. */
  readonly suffix: string;
  /** Qualified and quoted. */
  readonly table: string;
  readonly id: TableColumn & { readonly sql: string };
  /** By the name of the field. */
  readonly fields: readonly (readonly [field: string, column: TableColumn])[];
}

const AS_JSON = /^(?:bool|int2|int4|text|varchar|bpchar|citext|name|uuid)$/;
const JSON_ELEMENTS = /^(?:bool|int2|int4|text|varchar|bpchar|citext|uuid)$/;

/** Whether values of a column are values of documents, and back. */
export function isMappable({ element }: TableColumn): boolean {
  return element === null || JSON_ELEMENTS.test(element);
}

/** The value of a column as JSON, and `null` for none. */
function valueSql({ quoted, type, element }: TableColumn): string {
  const value = `r.${quoted}`;
  if (element !== null || AS_JSON.test(type)) return `to_json(${value})`;
  switch (type) {
    case 'int8':
      return `cairn_bigint(${value})`;
    case 'numeric':
      return `cairn_number(${value})`;
    case 'float4':
    case 'float8':
      return `cairn_float(${value})`;
    case 'timestamptz':
      return `cairn_time(${value})`;
    case 'timestamp':
      return `cairn_time(${value} at time zone 'UTC')`;
    case 'json':
    case 'jsonb':
      return `cairn_wrapped(${value}::json)`;
    case 'bytea': {
      const bytes = `replace(encode(${value}, 'base64'), E'\\n', '')`;
      return `json_build_object('$bytes', json_build_object('type', 'Uint8Array', 'bytes', ${bytes}))`;
    }
    default:
      return `to_json(${value}::text)`;
  }
}

/** What `cairn_column` makes of a value for a column. */
function kindOf({ type }: TableColumn): string {
  return type === 'jsonb' ? 'json' : type;
}

/** A text of SQL. Postgres reads backslashes as they are, unless it is told otherwise. */
function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/** The functions and triggers of a table, as one statement. */
export function tableSql({ collection, suffix, table, id, fields }: MappedTable): string {
  const name = literal(collection);
  const known = ['_id', ...fields.map(([field]) => field)].map(literal).join(', ');
  const values = fields.map(
    ([field, column], at) =>
      `union all select ${at + 1}, ${literal(field)}, ${valueSql(column)} where r.${column.quoted} is not null`,
  );
  const written = fields.filter(([, { generated }]) => !generated);
  const columns = written.map(
    ([field, column]) =>
      `(${literal(field)}, ${literal(column.name)}, ${literal(column.quoted)}, ${literal(kindOf(column))})`,
  );
  const list =
    columns.length > 0
      ? `(values ${columns.join(', ')})`
      : '(select null, null, null, null where false)';
  const busy = (what: string) => `raise exception '${what}' using errcode = 'CN001';`;
  return `do $setup$
begin
perform set_config('client_min_messages', 'warning', true);
perform pg_advisory_xact_lock(hashtext('cairndb/server'));

-- A row as a document, with the fields of the document before that have no column.
create or replace function cairn_body_${suffix}(r ${table}, kept json) returns json
language sql stable as $function$
  select json_object_agg(f.key, f.value order by f.place) from (
    select 0 as place, '_id' as key, to_json(r.${id.quoted}::text) as value
    ${values.join('\n    ')}
    union all select 10000 + k.place::int, k.key, k.value
      from json_each(kept) with ordinality as k(key, value, place)
      where k.key <> all (array[${known}])
  ) f where f.value is not null;
$function$;

create or replace function cairn_ids_${suffix}() returns setof text language sql stable as $function$
  select r.${id.quoted}::text from ${table} r;
$function$;

create or replace function cairn_states_${suffix}(ids text[]) returns table (id text, body json)
language sql stable as $function$
  select r.${id.quoted}::text, cairn_body_${suffix}(r, k.body) from ${table} r
    left join cairn_rows k on k.collection = ${name} and k.id = r.${id.quoted}::text
    where r.${id.quoted} = any (ids::${id.sql}[]);
$function$;

-- Notes the rows that other programs change. It runs with the rights of the owner of the tables of Cairn.
create or replace function cairn_note_${suffix}() returns trigger
language plpgsql security definer set search_path from current as $function$
declare
  ids text[];
begin
  if tg_op = 'TRUNCATE' then ids := array[null::text];
  elsif tg_op = 'DELETE' then ids := array[old.${id.quoted}::text];
  elsif tg_op = 'INSERT' then ids := array[new.${id.quoted}::text];
  else ids := array[old.${id.quoted}::text, nullif(new.${id.quoted}::text, old.${id.quoted}::text)];
  end if;
  -- What a device writes is in cairn_rows.
  if current_setting('cairn.writing', true) = ids[1] || ${literal(` ${collection}`)} then return null; end if;
  insert into cairn_noted (collection, id)
    select ${name}, i.id from unnest(ids) as i(id) where i.id is not null or tg_op = 'TRUNCATE';
  -- Behind all changes there are: a reader finds its number.
  perform pg_notify('cairn', '999999999999999 ' || left(${name}, 1000));
  return null;
end $function$;

-- Writes what a device has changed, those columns alone. A row that another program has changed since it was copied
-- must be copied first; one that it is changing is not waited for, which could end in a deadlock.
create or replace function cairn_write_${suffix}() returns trigger
language plpgsql set search_path from current as $function$
#variable_conflict use_column
declare
  before json;
  present ${table};
  there boolean;
  changed record;
begin
  if current_setting('cairn.taking', true) = 'on' then return null; end if;
  before := case tg_op when 'UPDATE' then old.body end;
  begin
    select t.* into present from ${table} t where t.${id.quoted} = new.id::${id.sql} for update nowait;
    there := found;
  exception when lock_not_available then ${busy('Another program changes the row.')}
  end;
  if there <> (before is not null) or there and not cairn_same(cairn_body_${suffix}(present, before), before) then
    ${busy('Another program has changed the row.')}
  end if;
  perform set_config('cairn.writing', new.id || ${literal(` ${collection}`)}, true);
  if new.body is null then
    if there then delete from ${table} t where t.${id.quoted} = new.id::${id.sql}; end if;
  else
    select jsonb_object_agg(c.name, cairn_column(new.body::jsonb->c.field, c.kind)) as row,
      string_agg(c.quoted, ', ' order by c.name) as names,
      string_agg('p.' || c.quoted, ', ' order by c.name) as values,
      string_agg(c.quoted || ' = p.' || c.quoted, ', ') as sets
      into changed
      from ${list} as c(field, name, quoted, kind)
      where nullif(new.body::jsonb->c.field, 'null') is distinct from nullif(before::jsonb->c.field, 'null');
    changed.row := coalesce(changed.row, '{}') || jsonb_build_object(${literal(id.name)}, new.id);
    if not there then
      execute 'insert into ${table.replaceAll("'", "''")} (' || concat_ws(', ', ${literal(id.quoted)}, changed.names)
        || ') overriding system value select ' || concat_ws(', ', ${literal(`p.${id.quoted}`)}, changed.values)
        || ' from jsonb_populate_record(null::${table.replaceAll("'", "''")}, $1) p' using changed.row;
    elsif changed.sets is not null then
      execute 'update ${table.replaceAll("'", "''")} t set ' || changed.sets
        || ' from jsonb_populate_record(null::${table.replaceAll("'", "''")}, $1) p where t.'
        || ${literal(`${id.quoted} = p.${id.quoted}`)} using changed.row;
    end if;
  end if;
  perform set_config('cairn.writing', '', true);
  select t.* into present from ${table} t where t.${id.quoted} = new.id::${id.sql};
  there := found;
  if there and present.${id.quoted}::text <> new.id then
    raise exception 'The table writes this id as "%".', present.${id.quoted}::text;
  end if;
  -- Defaults and triggers of the table may have made another row: the device gets it by a pull.
  if there <> (new.body is not null) or there and not cairn_same(cairn_body_${suffix}(present, new.body), new.body) then
    insert into cairn_noted (collection, id) values (${name}, new.id);
    perform pg_notify('cairn', '999999999999999 ' || left(${name}, 1000));
  end if;
  return null;
end $function$;

revoke all on function cairn_ids_${suffix}() from public;
revoke all on function cairn_states_${suffix}(text[]) from public;
drop trigger if exists cairn_note_${suffix} on ${table};
create trigger cairn_note_${suffix} after insert or update or delete on ${table}
  for each row execute function cairn_note_${suffix}();
drop trigger if exists cairn_noteall_${suffix} on ${table};
create trigger cairn_noteall_${suffix} after truncate on ${table}
  for each statement execute function cairn_note_${suffix}();
drop trigger if exists cairn_write_${suffix} on cairn_rows;
create trigger cairn_write_${suffix} after insert or update on cairn_rows
  for each row when (new.collection = ${name}) execute function cairn_write_${suffix}();
insert into cairn_noted (collection, id) values (${name}, null);
insert into cairn_tables values (${name}, '${suffix}', '')
  on conflict (collection) do update set suffix = excluded.suffix, mapping = '';
end $setup$`;
}
