import { isPlainObject } from '../../codec/kinds.ts';
import { OptionError } from '../../errors/errors.ts';
import {
  type CollectionSettings,
  ID_LENGTH,
  SAVE_DIRECTLY_AFTER,
  SAVE_TIMEOUT,
  type StampSettings,
} from '../../protocol/settings.ts';
import type { StandardSchema } from '../standard-schema.ts';
import { type ExpireOption, expireOption, parseExpiry } from './expire-options.ts';
import { type IndexOption, indexList, parseIndexes } from './index-options.ts';
import {
  type Check,
  checkOptions,
  flag,
  integer,
  name,
  number,
  oneOf,
  seconds,
} from './option-checks.ts';

/** Options of both types of collection. */
export interface CommonOptions {
  /** Name of the collection: 1 to 128 characters of any kind. */
  name: string;
  /**
   * Seconds after the first unsaved change until the collection is saved, 0 to 3600. Give it to
   * batch more changes in a save; they are lost where the browser is killed before. By default the
   * collection is saved at once after a pause, and every quarter of a second while it changes
   * steadily: after a second at the latest.
   * @default 1
   */
  save_timeout?: number | undefined;
  /**
   * Changes after which the collection is saved at once.
   * @default 5
   */
  save_directly_after?: number | undefined;
  /**
   * Minutes without activity after which a cached collection is dropped from memory, -1 for never.
   * @default 10
   */
  cache_retention_time?: number | undefined;
  /**
   * Days after which backups are deleted, -1 for never.
   * @default 3
   */
  backup_retention_time?: number | undefined;
  /**
   * Keeps all documents in memory: faster, but memory grows with the collection.
   * @default false
   */
  caching?: boolean | undefined;
  /**
   * Makes a backup once a day on which the collection changed.
   * @default false
   */
  auto_create_backup?: boolean | undefined;
  /**
   * Prints each call of this page with its time and result, and the events of the collection, to
   * the page's console.
   * @default false
   */
  detailed_debugger_logs?: boolean | undefined;
  /**
   * A schema of any library that implements Standard Schema: Zod, Valibot, ArkType, Effect Schema
   * and others. Documents, or the values of records, pass through it before they are stored, and
   * its output is stored. It must be synchronous, and accept its own output. The types of the
   * collection are inferred from it.
   *
   * @example
   * ```ts
   * const schema = z.object({ name: z.string(), age: z.number().default(0) });
   * const users = new db.Collection({ name: 'users', type: 'DOCUMENT_BASED', schema });
   * ```
   */
  schema?: StandardSchema | undefined;
  /**
   * The version of the documents, as this code expects them. Raise it, with a step in `migrate`,
   * when their shape changes.
   * @default 1
   */
  version?: number | undefined;
  /**
   * Enables `Drop()`.
   * @default false
   */
  activate_drop_method?: boolean | undefined;
}

/** Options for the stamps of documents. */
export interface StampOptions {
  /** Documents carry `_created_at`, a Date. @default false */
  indicate_created_at?: boolean | undefined;
  /** Documents carry `_created_timestamp`, Unix milliseconds. @default false */
  indicate_created_timestamp?: boolean | undefined;
  /** Documents carry `_updated_at` once they were updated. @default false */
  indicate_updated_at?: boolean | undefined;
  /** Documents carry `_updated_timestamp` once they were updated. @default false */
  indicate_updated_timestamp?: boolean | undefined;
  /** Another spelling of `indicate_updated_at`. */
  indicate_edited_at?: boolean | undefined;
  /** Another spelling of `indicate_updated_timestamp`. */
  indicate_edited_timestamp?: boolean | undefined;
  /** Documents carry `_archived_at` once they were archived. @default false */
  indicate_archived_at?: boolean | undefined;
  /** Documents carry `_archived_timestamp` once they were archived. @default false */
  indicate_archived_timestamp?: boolean | undefined;
  /** Documents carry `_unarchived_at` once they were unarchived. @default false */
  indicate_unarchived_at?: boolean | undefined;
  /** Documents carry `_unarchived_timestamp` once they were unarchived. @default false */
  indicate_unarchived_timestamp?: boolean | undefined;
}

/** Options of a collection of documents. */
export interface DocumentCollectionOptions extends CommonOptions, StampOptions {
  type: 'DOCUMENT_BASED';
  /**
   * Characters of a generated `_id`, 4 to 256.
   * @default 32
   */
  id_length?: number | undefined;
  /**
   * Indexes: queries and sorts by these fields need not examine every document. A changed list
   * builds and drops indexes when the collection opens, with events `index`.
   *
   * @example
   * ```ts
   * indexes: ['email', { fields: ['region', 'age'] }, { fields: 'tags', multi: true }]
   * ```
   * @default []
   */
  indexes?: readonly IndexOption[] | undefined;
  /**
   * Documents expire so many seconds after the time in a field, or at the time in it, where a path
   * is given. From that moment nothing finds them, and they are removed behind. One without a time
   * there never expires. The field must be a Date.
   *
   * A clock that is set back shows nothing again. The field gets an index.
   *
   * @example
   * ```ts
   * expire_after: { field: 'fetched_at', seconds: 3600 }
   * ```
   * @default undefined
   */
  expire_after?: ExpireOption | undefined;
  /**
   * Reads return deeply frozen documents that all readers share: the same object until the document
   * changes. Reading then copies nothing, and a worker sends a document only once. With `Database`
   * and `caching: true`, all are decoded in the background once `collection.ready` resolves: for
   * the fastest reads, at the most memory.
   *
   * Dates, Maps, Sets and binary values cannot be frozen; leave them as they are.
   * @default false
   */
  shared_documents?: boolean | undefined;
  /**
   * Steps that bring older documents to `version`: the key is the version that a step leads to.
   * When the collection opens, each document passes through the missing steps; calls wait until all
   * are in place, at once. A backup is made before.
   *
   * A step gets the document with its managed fields, and returns it as it shall be stored;
   * `undefined` removes it. It must be synchronous.
   *
   * @example
   * ```ts
   * migrate: { 2: ({ name, ...user }) => ({ ...user, names: name.split(' ') }) }
   * ```
   */
  migrate?: DocumentSteps | undefined;
  /**
   * What documents of other collections belong to each document, by a name that queries take in
   * `include` and in criteria. Functions, so that two collections can name each other. They must
   * belong to the same database. Nothing of it is stored.
   *
   * @example
   * ```ts
   * relations: {
   *   customer: { one: () => customers, from: 'customer_id' },
   *   visits: { many: () => visits, to: 'job_id' },
   * }
   * ```
   */
  relations?: RelationOptions | undefined;
}

/** Relations by name, as the option `relations` takes them. */
export interface RelationOptions {
  readonly [name: string]: RelationOption;
}

/** A relation to the documents of another collection: one, or many. */
export type RelationOption = {
  /**
   * The path of the documents whose value, or values in an array, partners have at `to`.
   * @default '_id'
   */
  readonly from?: string | undefined;
  /** The path of the partners. @default '_id' */
  readonly to?: string | undefined;
} & (
  | { readonly one: PartnerFunction; readonly many?: undefined }
  | { readonly many: PartnerFunction; readonly one?: undefined }
);

/** Returns a collection of documents. `any`, so that two collections may name each other. */
// biome-ignore lint/suspicious/noExplicitAny: a type would make the collections' types circular
type PartnerFunction = () => any;

/**
 * Steps of the option `migrate`. The type of the parameter may be given: the document as that
 * version left it.
 */
export interface DocumentSteps {
  readonly [version: number]: {
    // A method, so that the parameter may have a narrower type.
    // biome-ignore lint/suspicious/noExplicitAny: the document as an earlier version stored it
    step(document: Record<string, any>): object | undefined;
  }['step'];
}

/** Steps of the option `migrate` of a key-value collection. */
export interface ValueSteps {
  readonly [version: number]: {
    // biome-ignore lint/suspicious/noExplicitAny: the value as an earlier version stored it
    step(value: any, key: string): unknown;
  }['step'];
}

/** Options of a key-value collection. */
export interface KeyValueCollectionOptions extends CommonOptions {
  type: 'KEY_VALUE_BASED';
  /**
   * Steps that bring older values to `version`, as for documents. A step gets the value of a
   * record, and its key.
   */
  migrate?: ValueSteps | undefined;
}

/** The options of a collection, checked and completed, as its handle has them. */
export interface HandleSettings extends CollectionSettings {
  /** Stays in the page. */
  readonly schema?: StandardSchema | undefined;
  /** Stay in the page. */
  readonly migrate?: MigrationSteps | undefined;
  /** Stay in the page. */
  readonly relations?: RelationOptions | undefined;
}

export type CollectionOptions = DocumentCollectionOptions | KeyValueCollectionOptions;

/** Of the option `migrate`. */
const stepList: Check = {
  allowed: 'functions by version',
  test: (value) =>
    isPlainObject(value) && Object.values(value).every((step) => typeof step === 'function'),
};

const common: Record<keyof CommonOptions | 'type' | 'migrate', Check> = {
  name,
  type: { ...oneOf(['DOCUMENT_BASED', 'KEY_VALUE_BASED']), required: true },
  save_timeout: seconds(0, SAVE_TIMEOUT),
  save_directly_after: integer(1, undefined, SAVE_DIRECTLY_AFTER),
  cache_retention_time: aboveZeroOrNever('minutes', 10),
  backup_retention_time: aboveZeroOrNever('days', 3),
  caching: flag,
  auto_create_backup: flag,
  detailed_debugger_logs: flag,
  activate_drop_method: flag,
  version: integer(1, undefined, 1),
  migrate: stepList,
  schema: {
    allowed: 'a Standard Schema',
    test: (value) => (value as StandardSchema | null)?.['~standard']?.version === 1,
  },
};

const documentOnly: Record<string, Check> = {
  indexes: indexList,
  expire_after: expireOption,
  shared_documents: flag,
  relations: { allowed: 'an object', test: isPlainObject },
  id_length: integer(4, 256, ID_LENGTH),
};

for (const stamp of ['created', 'updated', 'edited', 'archived', 'unarchived']) {
  documentOnly[`indicate_${stamp}_at`] = documentOnly[`indicate_${stamp}_timestamp`] = flag;
}

const all = { ...common, ...documentOnly };

/**
 * Checks the options of a collection and fills in the defaults.
 *
 * @throws {OptionError} with the option, the given value and the allowed ones.
 */
export function parseCollectionOptions(options: unknown): HandleSettings {
  const settings = checkOptions(options, all, 'new Collection(options)');
  const given = options as Readonly<Record<string, unknown>>;
  for (const [place, { fallback }] of Object.entries(documentOnly)) {
    if (settings.type === 'KEY_VALUE_BASED' && settings[place] !== fallback) {
      const message = `"${place}" is for DOCUMENT_BASED only.`;
      throw new OptionError('option_invalid', message, { place });
    }
  }
  checkSteps(settings.version, settings.migrate);
  const stamp = (name: string): StampSettings => ({
    at: settings[`indicate_${name}_at`] as boolean,
    timestamp: settings[`indicate_${name}_timestamp`] as boolean,
  });
  const created = stamp('created');
  const updated = {
    at: eitherSpelling(given, 'at'),
    timestamp: eitherSpelling(given, 'timestamp'),
  };
  return {
    ...(settings as unknown as HandleSettings),
    name: (settings.name as string).toWellFormed(),
    indexes: parseIndexes(settings.indexes as readonly IndexOption[] | undefined),
    expire_after: parseExpiry(settings.expire_after, { created, updated }),
    save_early: given.save_timeout === undefined,
    created,
    updated,
    archived: stamp('archived'),
    unarchived: stamp('unarchived'),
  };
}

function aboveZeroOrNever(unit: string, fallback: number): Check {
  const allowed = `${unit} above 0, or -1`;
  return number(allowed, (value) => value > 0 || value === -1, fallback);
}

/** The options of the update stamp have two spellings. */
function eitherSpelling(given: Record<string, unknown>, form: 'at' | 'timestamp'): boolean {
  const option = `indicate_updated_${form}`;
  const spelling = `indicate_edited_${form}`;
  const own = given[option] ?? given[spelling] ?? false;
  if ((given[spelling] ?? own) === own) return own as boolean;
  throw new OptionError(
    'option_conflict',
    `"${option}" and "${spelling}" are the same option; give one.`,
    { place: option },
  );
}

/** A step of `migrate`; checked when it runs. */
type Step = (given: never, key: string) => unknown;

/** The steps of a collection, by the version that they lead to. */
export type MigrationSteps = { readonly [version: number]: Step };

/**
 * Checks that the steps lead to the version, one after the other.
 *
 * @throws {OptionError} `migration_gap`
 */
function checkSteps(version: unknown, steps: unknown): void {
  const given = Object.keys(steps ?? {});
  const first = (version as number) - given.length + 1;
  // Keys that are integers come in ascending order.
  if (first > 1 && given.every((key, index) => key === `${first + index}`)) return;
  throw new OptionError(
    'migration_gap',
    `"migrate" must have steps up to version ${version} without a gap, from 2 on, not ${given}.`,
    { place: 'migrate' },
  );
}
