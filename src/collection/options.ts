import type { CollectionSettings, StampSettings } from '../engine/settings.ts';
import { OptionError } from '../errors/option-error.ts';
import {
  type Check,
  check,
  checkKnown,
  flag,
  integer,
  name,
  number,
  oneOf,
} from './option-checks.ts';

/** Options that both types of collection have. */
export interface CommonOptions {
  /** Name of the collection: 1 to 128 characters of any kind. */
  name: string;
  /**
   * Seconds after the first unsaved change until the collection is saved, 0 to 3600. What is not saved when
   * the page ends can be lost.
   * @default 1
   */
  save_timeout?: number | undefined;
  /**
   * Changes after which the collection is saved at once.
   * @default 5
   */
  save_directly_after?: number | undefined;
  /**
   * Minutes without activity after which a cached collection leaves memory, -1 for never.
   * @default 10
   */
  cache_retention_time?: number | undefined;
  /**
   * Days after which backups are deleted, -1 for never.
   * @default 3
   */
  backup_retention_time?: number | undefined;
  /**
   * Keeps all documents in memory: faster, and memory grows with the collection.
   * @default false
   */
  caching?: boolean | undefined;
  /** @default false */
  auto_create_backup?: boolean | undefined;
  /**
   * Prints the events of the collection to the console.
   * @default false
   */
  detailed_debugger_logs?: boolean | undefined;
  /**
   * Makes `Drop()` work.
   * @default false
   */
  activate_drop_method?: boolean | undefined;
}

/** Options of a collection of documents. */
export interface DocumentCollectionOptions extends CommonOptions {
  type: 'DOCUMENT_BASED';
  /**
   * Characters of a generated `_id`, 4 to 256.
   * @default 32
   */
  id_length?: number | undefined;
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

/** Options of a key-value collection. */
export interface KeyValueCollectionOptions extends CommonOptions {
  type: 'KEY_VALUE_BASED';
}

export type CollectionOptions = DocumentCollectionOptions | KeyValueCollectionOptions;

const STAMPS = ['created', 'updated', 'archived', 'unarchived'] as const;

const common: Record<keyof CommonOptions | 'type', Check> = {
  name,
  type: oneOf(['DOCUMENT_BASED', 'KEY_VALUE_BASED']),
  save_timeout: number(
    'a number of seconds from 0 to 3600',
    (value) => value >= 0 && value <= 3600,
  ),
  save_directly_after: integer('a whole number of changes, 1 or more', (value) => value >= 1),
  cache_retention_time: number(
    'a number of minutes above 0, or -1',
    (value) => value > 0 || value === -1,
  ),
  backup_retention_time: number(
    'a number of days above 0, or -1',
    (value) => value > 0 || value === -1,
  ),
  caching: flag,
  auto_create_backup: flag,
  detailed_debugger_logs: flag,
  activate_drop_method: flag,
};

const documentOnly: Record<string, Check> = {
  id_length: integer('a whole number from 4 to 256', (value) => value >= 4 && value <= 256),
};
for (const stamp of [...STAMPS, 'edited']) {
  documentOnly[`indicate_${stamp}_at`] = flag;
  documentOnly[`indicate_${stamp}_timestamp`] = flag;
}

/**
 * Checks the options of a collection and fills in the defaults.
 *
 * @throws {OptionError} naming the option, what was given and what is allowed.
 */
export function parseCollectionOptions(options: unknown): CollectionSettings {
  const given = checkKnown(options, { ...common, ...documentOnly }, 'new Collection(options)');
  for (const [option, test] of Object.entries({ ...common, ...documentOnly })) {
    check(given, option, test, option === 'name' || option === 'type');
  }
  const type = given['type'] as CollectionSettings['type'];
  if (type === 'KEY_VALUE_BASED') refuseDocumentOptions(given);
  const value = <T>(option: string, fallback: T): T => (given[option] as T | undefined) ?? fallback;
  return {
    name: (given['name'] as string).toWellFormed(),
    type,
    id_length: value('id_length', 32),
    created: stamp(given, 'created'),
    updated: stamp(given, 'updated'),
    archived: stamp(given, 'archived'),
    unarchived: stamp(given, 'unarchived'),
    save_timeout: value('save_timeout', 1),
    save_directly_after: value('save_directly_after', 5),
    cache_retention_time: value('cache_retention_time', 10),
    backup_retention_time: value('backup_retention_time', 3),
    caching: value('caching', false),
    auto_create_backup: value('auto_create_backup', false),
    detailed_debugger_logs: value('detailed_debugger_logs', false),
    activate_drop_method: value('activate_drop_method', false),
  };
}

function stamp(given: Record<string, unknown>, name: (typeof STAMPS)[number]): StampSettings {
  const wants = (form: 'at' | 'timestamp'): boolean => {
    const option = `indicate_${name}_${form}`;
    const own = given[option] as boolean | undefined;
    if (name !== 'updated') return own ?? false;
    const spelling = `indicate_edited_${form}`;
    const other = given[spelling] as boolean | undefined;
    if (own !== undefined && other !== undefined && own !== other) {
      throw new OptionError(
        'option_conflict',
        `"${option}" is ${own} and "${spelling}" is ${other}, but they are two spellings of one option; give one of them.`,
        { place: option },
      );
    }
    return own ?? other ?? false;
  };
  return { at: wants('at'), timestamp: wants('timestamp') };
}

function refuseDocumentOptions(given: Record<string, unknown>): void {
  for (const option of Object.keys(documentOnly)) {
    // A flag that is off says nothing.
    if (given[option] === undefined || given[option] === false) continue;
    throw new OptionError(
      'option_invalid',
      `"${option}" applies to collections of type DOCUMENT_BASED only; leave it out.`,
      { place: option },
    );
  }
}
