import type { FileRecord } from '../../backup/file/file-contents.ts';
import { type Body, decode, encode } from '../../codec/body.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { sameValue } from '../../codec/same-value.ts';
import { type ExpiryCheck, expiryCheck } from '../../engine/expiry/expiry-check.ts';
import { type DocumentBuilder, documentBuilder } from '../../engine/protocol/managed.ts';
import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import { reasonOf } from '../../errors/as-cairn-error.ts';
import { MigrationError, migrationFailed } from '../../errors/migration-error.ts';
import { OptionError } from '../../errors/option-error.ts';
import { ownFields } from '../find/documents.ts';
import type { CollectionSchema } from '../schema/collection-schema.ts';
import type { MigrationSteps } from './migration-steps.ts';

type Step = (given: unknown, key: string) => unknown;

/** Migrates records from one version to another, by the caller's steps. */
export class RecordMigration {
  readonly #steps: (readonly [version: number, step: Step])[] = [];
  readonly #to: number;
  readonly #schema: CollectionSchema | undefined;
  /** Left out for values. */
  readonly #build: DocumentBuilder | undefined;
  readonly #checkExpiry: ExpiryCheck | undefined;

  /** @throws {OptionError} `migration_gap`, where a step is missing */
  constructor(
    settings: CollectionSettings,
    steps: MigrationSteps,
    from: number,
    schema: CollectionSchema | undefined,
  ) {
    const { name, type, version: to } = settings;
    this.#schema = schema;
    this.#to = to;
    this.#checkExpiry = expiryCheck(settings);
    if (type === 'DOCUMENT_BASED') this.#build = documentBuilder(settings);
    for (let version = from + 1; version <= to; version++) {
      const step = Object.hasOwn(steps, version) ? (steps[version] as Step) : undefined;
      if (!step) throw missing(name, from, version);
      this.#steps.push([version, step]);
    }
  }

  /** @returns `undefined` where a step removes it. @throws {MigrationError} */
  migrate(record: FileRecord): FileRecord | undefined {
    const { key } = record;
    let { body } = record;
    for (const [version, step] of this.#steps) {
      const migrated = this.#take(record, body, version, step);
      if (migrated === undefined) return undefined;
      body = migrated;
    }
    return attempt(this.#to, key, () => this.#checked({ ...record, body }));
  }

  /** What newer code may store of a migrated record. */
  #checked(migrated: FileRecord): FileRecord {
    const schema = this.#schema;
    const passed = schema
      ? (schema.importedPart({ kind: 'records', records: [migrated] }).records[0] as FileRecord)
      : migrated;
    this.#checkExpiry?.(decode(passed.body) as object, 'result');
    return passed;
  }

  #take(
    { key, flags, stamps }: FileRecord,
    body: Body,
    version: number,
    step: Step,
  ): Body | undefined {
    const value = decode(body);
    const given = this.#build ? this.#build(key, flags, stamps, value as object) : value;
    const made = attempt(version, key, () => resultOf(step(given, key), version, key));
    // A value that is `undefined` already: a step that returns what it gets must not remove it.
    if (made === undefined && value !== undefined) {
      // A step that forgets to return the document would remove all of them.
      const left = this.#build ? ownFields(given as object) : given;
      if (sameValue(left, decode(body))) return undefined;
      throw failed(
        version,
        key,
        'it changed the document and returned nothing: return the document, or leave it as it is to remove it',
      );
    }
    return attempt(version, key, () => encode(this.#fieldsOf(made, version, key), 'result'));
  }

  /** What is stored of a result. */
  #fieldsOf(made: unknown, version: number, key: string): unknown {
    if (!this.#build) return made;
    if (!isPlainObject(made)) throw failed(version, key, 'it returned no plain object');
    const { _id = key } = made;
    if (_id !== key) throw failed(version, key, 'it changed _id, which must stay');
    return ownFields(made);
  }
}

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
