import type { MigrationSteps } from '../../api/options/collection-options.ts';
import { nextTurn } from '../../async/next-turn.ts';
import {
  type FileHeader,
  type FilePart,
  type FileRecord,
  versionIn,
  withVersion,
} from '../../backup/file/file-contents.ts';
import type { Body } from '../../codec/body.ts';
import { decode, encode } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { sameValue } from '../../codec/same-value.ts';
import { MigrationError, migrationFailed, OptionError, reasonOf } from '../../errors/errors.ts';
import { expiryCheck } from '../../protocol/expiry-check.ts';
import { documentBuilder } from '../../protocol/managed.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CollectionSchema } from '../sending/collection-schema.ts';
import { ownFields } from '../sending/documents.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';

/**
 * An engine that is lost takes the migration along. What ends every engine must not be retried for
 * ever.
 */
const ATTEMPTS = 4;

/** After this long in one turn the page gets a chance to paint. */
const TURN_MS = 12;

/** After this long the engine hears that steps which take their time still run. */
const REPORT_MS = 1000;

/**
 * Migrates records from one version to another, by the caller's steps. What it returns migrates
 * one: to `undefined` where a step removes it.
 *
 * @throws {OptionError} `migration_gap`, where a step is missing. {MigrationError} of a record.
 */
function recordMigration(
  settings: CollectionSettings,
  steps: MigrationSteps,
  from: number,
  schema: CollectionSchema | undefined,
) {
  const wanted: (readonly [version: number, step: Step])[] = [];
  const { name, type, version: to } = settings;
  const checkExpiry = expiryCheck(settings);
  /** Left out for values. */
  const build = type === 'DOCUMENT_BASED' ? documentBuilder(settings) : undefined;
  for (let version = from + 1; version <= to; version++) {
    const step = Object.hasOwn(steps, version) ? (steps[version] as Step) : undefined;
    if (!step) throw missing(name, from, version);
    wanted.push([version, step]);
  }

  /** What newer code may store of a migrated record. */
  function checked(migrated: FileRecord): FileRecord {
    const passed = schema
      ? (schema.importedPart({ kind: 'records', records: [migrated] }).records[0] as FileRecord)
      : migrated;
    checkExpiry?.(decode(passed.body) as object, 'result');
    return passed;
  }

  function take(
    { key, flags, stamps }: FileRecord,
    body: Body,
    version: number,
    step: Step,
  ): Body | undefined {
    const value = decode(body);
    const given = build ? build(key, flags, stamps, value as object) : value;
    const made = attempt(version, key, () => resultOf(step(given, key), version, key));
    // A value that is `undefined` already: a step that returns what it gets must not remove it.
    if (made === undefined && value !== undefined) {
      // A step that forgets to return the document would remove all of them.
      const left = build ? ownFields(given as object) : given;
      if (sameValue(left, decode(body))) return undefined;
      throw failed(
        version,
        key,
        'it changed the document and returned nothing: return the document, or leave it as it is to remove it',
      );
    }
    return attempt(version, key, () => encode(fieldsOf(made, version, key), 'result'));
  }

  /** What is stored of a result. */
  function fieldsOf(made: unknown, version: number, key: string): unknown {
    if (!build) return made;
    if (!isPlainObject(made)) throw failed(version, key, 'it returned no plain object');
    const { _id = key } = made;
    if (_id !== key) throw failed(version, key, 'it changed _id, which must stay');
    return ownFields(made);
  }

  return (record: FileRecord): FileRecord | undefined => {
    const { key } = record;
    let { body } = record;
    for (const [version, step] of wanted) {
      const migrated = take(record, body, version, step);
      if (migrated === undefined) return undefined;
      body = migrated;
    }
    return attempt(to, key, () => checked({ ...record, body }));
  };
}

/**
 * Migrates the documents of a collection to the version of its handle: the engine hands them out,
 * part by part, the steps run here, and the engine makes the result live at once. Does nothing
 * where another tab has done it.
 *
 * @param backup Its documents are migrated, and take the place of the present ones.
 * @throws {MigrationError} `migration_failed`; {OptionError} `migration_gap`
 */
export async function runMigration(
  parts: MigrationParts,
  backup: string | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await migrateOnce(parts, backup);
      return;
    } catch (cause) {
      const { code, place, message } = cause as MigrationError;
      const isRefused = (code as string) === 'unique_violation';
      if (isRefused) {
        const why = `The migrated documents were refused. ${message} Nothing was changed.`;
        throw migrationFailed(parts.settings.version, why, place, cause);
      }
      const isLost = ['answer_lost', 'aborted'].includes(code);
      if (!isLost || attempt === ATTEMPTS) throw cause;
    }
  }
}

async function migrateOnce(parts: MigrationParts, backup: string | undefined): Promise<void> {
  const { channel, settings, steps } = parts;
  const { version } = settings;
  const call = Math.random();
  const schema = await parts.schema();
  const migrating = channel.send({
    ...({ op: 'migrate', call, version, backup } as const),
    ...{ urgent: true, once: true },
  });
  // Awaited when the parts have ended.
  migrating.catch(() => undefined);
  let migrate: ReturnType<typeof recordMigration> | undefined;
  let records: FileRecord[] = [];
  let done = 0;
  const next = (isWhole: boolean) => {
    const part = { op: 'migratePart', call, records, done, isWhole, urgent: true } as const;
    records = [];
    done = 0;
    return channel.send(part);
  };
  try {
    let turn = Date.now();
    for (let part = await next(true); part; part = await next(true)) {
      migrate ??= recordMigration(settings, steps, part.from, schema);
      let reported = Date.now();
      for (const record of part.records) {
        const migrated = migrate(record);
        if (migrated) records.push(migrated);
        done++;
        if (Date.now() - reported < REPORT_MS) continue;
        await next(false);
        turn = reported = Date.now();
      }
      if (Date.now() - turn < TURN_MS) continue;
      await nextTurn();
      turn = Date.now();
    }
  } catch (error) {
    channel.send({ op: 'abort', call, urgent: true }).catch(() => undefined);
    throw error;
  }
  await migrating;
}

/** Migrates a section of a file to the version of its collection's handle, part by part. */
export async function migrateSection(
  { settings, steps, schema }: MigrationParts,
  header: FileHeader,
): Promise<(part: FilePart) => FilePart> {
  const migrate = recordMigration(settings, steps, versionIn(header), await schema());
  return (part) => {
    if (part.kind === 'header')
      return { ...part, header: withVersion(part.header, settings.version) };
    if (part.kind === 'end') return part;
    const records = part.records.flatMap((record) => migrate(record) ?? []);
    return { ...part, records };
  };
}

/** What a migration works with. */
export interface MigrationParts {
  readonly channel: HandleChannel;
  readonly settings: CollectionSettings;
  readonly steps: MigrationSteps;
  /** Loads the code of the schema, if there is one. */
  readonly schema: () => Promise<CollectionSchema | undefined>;
}

type Step = (given: unknown, key: string) => unknown;

/** What a step returned. @throws {MigrationError} for a promise */
function resultOf(made: unknown, version: number, key: string): unknown {
  if (typeof (made as Partial<PromiseLike<unknown>> | null)?.then !== 'function') return made;
  // Nobody else awaits it.
  Promise.resolve(made).catch(() => undefined);
  throw failed(version, key, 'it returned a promise, and steps must be synchronous');
}

function attempt<T>(version: number, key: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (cause instanceof MigrationError) throw cause;
    throw failed(version, key, reasonOf(cause), cause);
  }
}

function failed(version: number, key: string, why: string, cause?: unknown): MigrationError {
  // The schema names the document too, and that nothing was stored.
  const reason = why.replace(/\.?( Nothing was stored\..*)?$/s, '');
  const message = `The migration to version ${version} failed at "${key}": ${reason}. Nothing was changed.`;
  return migrationFailed(version, message, key, cause);
}

function missing(name: string, from: number, version: number): OptionError {
  return new OptionError(
    'migration_gap',
    `The documents of "${name}" have version ${from}, and "migrate" has no step to version ${version}: add it. Nothing was changed.`,
    { place: 'migrate' },
  );
}
