import { toHex } from '../../codec/exact-json/base64.ts';
import { OptionError } from '../../errors/errors.ts';
import type { Query } from '../postgres/sql-state.ts';
import type { FileName, FileStore, UploadName } from './file-store.ts';

/** The tables. Runs again without harm, and in several sessions at once. */
const SETUP = `do $setup$
begin
perform set_config('client_min_messages', 'warning', true);
perform pg_advisory_xact_lock(hashtext('cairndb/server/files'));
if to_regclass('cairn_files') is null then
  create table cairn_files (
    collection text collate "C" not null,
    sha256 text collate "C" not null,
    size bigint not null,
    used_at timestamptz not null default clock_timestamp(), -- sent or named last
    primary key (collection, sha256)
  );
  -- What a device has sent; done: it has the file.
  create table cairn_uploads (
    collection text collate "C" not null,
    sha256 text collate "C" not null,
    device text collate "C" not null,
    received bigint not null default 0,
    done boolean not null default false,
    used_at timestamptz not null default clock_timestamp(),
    primary key (collection, sha256, device)
  );
  create table cairn_file_parts (
    collection text collate "C" not null,
    sha256 text collate "C" not null,
    device text collate "C" not null, -- of an upload; '': of the file
    at bigint not null,
    bytes bytea not null,
    primary key (collection, sha256, device, at)
  );
  -- Documents that have named a file.
  create table cairn_file_names (
    collection text collate "C" not null,
    sha256 text collate "C" not null,
    id text collate "C" not null,
    primary key (collection, sha256, id)
  );
  alter table cairn_files enable row level security;
  alter table cairn_uploads enable row level security;
  alter table cairn_file_parts enable row level security;
  alter table cairn_file_names enable row level security;
end if;
-- Where the bytes are, if not here.
alter table cairn_file_parts add column if not exists object text;
end $setup$`;

const OF_FILE = 'collection = $1 and sha256 = $2';
const OF_UPLOAD = `${OF_FILE} and device = $3`;

/** So many are looked at in one collection of garbage. */
const MOST_UNUSED = 1000;

/** A bucket for the bytes of files, such as `s3()` of `cairndb/backup-targets`. */
export interface FileObjects {
  put(path: string, bytes: Uint8Array): Promise<void>;
  get(path: string): Promise<Uint8Array | undefined>;
  delete(path: string): Promise<void>;
}

/**
 * Files in PostgreSQL, as parts of up to 1 MB in a table beside those of `postgres(query)`.
 * `setup()` creates the tables.
 *
 * @param query Runs one statement, as that of `postgres(query)`.
 * @param options `objects`: a bucket for the bytes of files that come from now on. The tables have
 *   all else.
 *
 * @example
 * ```ts no-run
 * const store = postgresFiles(query, { objects: s3({ url, region, ...credentials }) });
 * ```
 */
export function postgresFiles(
  query: Query,
  { objects }: { readonly objects?: FileObjects | undefined } = {},
): Required<FileStore> {
  return new FilesInPostgres(query, objects);
}

class FilesInPostgres implements Required<FileStore> {
  readonly #query: Query;
  readonly #objects: FileObjects | undefined;

  constructor(query: Query, objects: FileObjects | undefined) {
    this.#query = query;
    this.#objects = objects;
  }

  async setup(): Promise<void> {
    await this.#query(SETUP);
  }

  async received(upload: UploadName): Promise<number | undefined> {
    const [row] = await this.#rows(
      `select received, done from cairn_uploads where ${OF_UPLOAD}`,
      ...valuesOf(upload),
    );
    return row?.done ? undefined : Number(row?.received ?? 0);
  }

  async append(upload: UploadName, from: number, bytes: Uint8Array): Promise<number> {
    // A new name each time: nobody can replace the bytes of a file that is there. None for nothing:
    // an empty part is the only one that may come again for a row that is there.
    const isObject = this.#objects && bytes.length > 0;
    const name = isObject ? toHex(crypto.getRandomValues(new Uint8Array(16))) : null;
    if (name !== null) await this.#objects?.put(name, bytes);
    // The row of the upload is locked by its change: of two with the same part one finds another
    // number of bytes.
    const [row] = await this.#rows(
      `with began as (
         insert into cairn_uploads (collection, sha256, device, received)
         select $1, $2, $3, $6::bigint where $4::bigint = 0
         on conflict (collection, sha256, device) do update
           set received = excluded.received, used_at = clock_timestamp()
           where cairn_uploads.received = 0 and not cairn_uploads.done
         returning received
       ), went as (
         update cairn_uploads
           set received = received + $6::bigint, used_at = clock_timestamp()
           where ${OF_UPLOAD} and received = $4::bigint and $4::bigint > 0 and not done
         returning received
       ), moved as (select received from began union all select received from went),
       added as (
         insert into cairn_file_parts (collection, sha256, device, at, bytes, object)
         select $1, $2, $3, $4::bigint, $5::bytea, $7 from moved
         on conflict (collection, sha256, device, at) do update
           set bytes = excluded.bytes, object = excluded.object
       )
       select received from moved`,
      ...valuesOf(upload),
      from,
      name === null ? bytes : new Uint8Array(),
      bytes.length,
      name,
    );
    if (row) return Number(row.received);
    await this.#deleteObjects([{ object: name }]);
    // All of it where another request has finished it meanwhile.
    const [present] = await this.#rows(
      `select received from cairn_uploads where ${OF_UPLOAD}`,
      ...valuesOf(upload),
    );
    return Number(present?.received ?? from);
  }

  async uploaded(upload: UploadName, from: number): Promise<Uint8Array | undefined> {
    const [row] = await this.#rows(
      `select bytes, object from cairn_file_parts where ${OF_UPLOAD} and at = $4`,
      ...valuesOf(upload),
      from,
    );
    return row && this.#bytesOf(row);
  }

  async finish(upload: UploadName): Promise<void> {
    const dropped = await this.#rows(
      `with done as (
         update cairn_uploads set done = true, used_at = clock_timestamp() where ${OF_UPLOAD}
         returning received
       ), made as (
         insert into cairn_files (collection, sha256, size)
         select $1, $2, received from done
         on conflict (collection, sha256) do nothing
         returning 1
       ), kept as (
         update cairn_file_parts set device = ''
           where ${OF_UPLOAD} and exists (select from made)
       ), dropped as (
         delete from cairn_file_parts where ${OF_UPLOAD} and not exists (select from made)
           returning object
       ), used as (update cairn_files set used_at = clock_timestamp() where ${OF_FILE})
       select object from dropped`,
      ...valuesOf(upload),
    );
    await this.#deleteObjects(dropped);
  }

  async discard(upload: UploadName): Promise<void> {
    const gone = await this.#rows(
      `with gone as (delete from cairn_file_parts where ${OF_UPLOAD} returning object),
       upload as (delete from cairn_uploads where ${OF_UPLOAD} and not done)
       select object from gone`,
      ...valuesOf(upload),
    );
    await this.#deleteObjects(gone);
  }

  async size({ collection, sha256 }: FileName): Promise<number | undefined> {
    const text = `select size from cairn_files where ${OF_FILE}`;
    const [row] = await this.#rows(text, collection, sha256);
    return row && Number(row.size);
  }

  async read({ collection, sha256 }: FileName, byte: number) {
    const [row] = await this.#rows(
      `select at, bytes, object from cairn_file_parts
       where ${OF_FILE} and device = '' and at <= $3 order by at desc limit 1`,
      collection,
      sha256,
      byte,
    );
    const bytes = row && (await this.#bytesOf(row));
    return bytes && { from: Number(row.at), bytes };
  }

  async name(collection: string, id: string, sha256: readonly string[]): Promise<void> {
    await this.#rows(
      `with used as (
         update cairn_files set used_at = clock_timestamp()
           where collection = $1 and sha256 = any($3::text[])
       )
       insert into cairn_file_names (collection, sha256, id)
       select $1, hash, $2 from unnest($3::text[]) as hash
       on conflict do nothing`,
      collection,
      id,
      [...sha256],
    );
  }

  async names({ collection, sha256 }: FileName, limit: number, after = ''): Promise<string[]> {
    const rows = await this.#rows(
      `select id from cairn_file_names where ${OF_FILE} and id > $3 order by id limit $4`,
      collection,
      sha256,
      after,
      limit,
    );
    return rows.map(({ id }) => id as string);
  }

  async unname({ collection, sha256 }: FileName, ids: readonly string[], since: Date) {
    // Locked: a document that names it meanwhile waits, and its name is written behind this.
    await this.#rows(
      `with unused as (select from cairn_files where ${OF_FILE} and used_at < $4 for update)
       delete from cairn_file_names
         where ${OF_FILE} and id = any($3::text[]) and exists (select from unused)`,
      collection,
      sha256,
      [...ids],
      since.toISOString(),
    );
  }

  async unused(since: Date): Promise<FileName[]> {
    const rows = await this.#rows(
      `select collection, sha256 from (
         select collection, sha256, used_at from cairn_files
         union all select collection, sha256, used_at from cairn_uploads
       ) as one
       group by collection, sha256 having max(used_at) < $1
       order by random() limit ${MOST_UNUSED}`,
      since.toISOString(),
    );
    return rows as unknown as FileName[];
  }

  async remove({ collection, sha256 }: FileName, since: Date): Promise<boolean> {
    // A file that somebody names meanwhile is locked by that, and is used then.
    const isUnused = `not exists (select from cairn_file_names where ${OF_FILE})
      and not exists (select from cairn_uploads where ${OF_FILE} and used_at >= $3)`;
    const rows = await this.#rows(
      `with files as (
         delete from cairn_files where ${OF_FILE} and used_at < $3 and ${isUnused} returning 1
       ), uploads as (
         delete from cairn_uploads where ${OF_FILE} and ${isUnused}
           and (exists (select from files)
             or not exists (select from cairn_files where ${OF_FILE}))
         returning 1
       ), parts as (
         delete from cairn_file_parts where ${OF_FILE}
           and (exists (select from files) or exists (select from uploads))
         returning object
       )
       select null as object from files union all select null from uploads
       union all select object from parts`,
      collection,
      sha256,
      since.toISOString(),
    );
    await this.#deleteObjects(rows);
    return rows.length > 0;
  }

  /** `undefined` where the bucket has lost it: the file is sent again, or is damaged. */
  async #bytesOf({ bytes, object }: Record<string, unknown>): Promise<Uint8Array | undefined> {
    if (typeof object !== 'string') return bytes as Uint8Array;
    if (!this.#objects)
      throw new OptionError('option_missing', 'These files are in a bucket: give objects.', {
        place: 'objects',
      });
    return this.#objects.get(object);
  }

  /** Behind the rows: an object without a row costs room, a row without its object a file. */
  async #deleteObjects(rows: readonly Record<string, unknown>[]): Promise<void> {
    for (const { object } of rows)
      if (typeof object === 'string') await this.#objects?.delete(object);
  }

  async #rows(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
    return [...(await this.#query(text, values)).rows] as Record<string, unknown>[];
  }
}

function valuesOf({ collection, sha256, device }: UploadName): string[] {
  return [collection, sha256, device];
}
