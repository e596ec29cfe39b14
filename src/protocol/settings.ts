import type { IndexDefinition } from '../query/index/index-definition.ts';

/** Which instants documents carry, and in which forms. */
export interface StampSettings {
  readonly at: boolean;
  readonly timestamp: boolean;
}

/** When documents expire: so many seconds after the time in a field. */
export interface ExpirySettings {
  /** Dotted path of a Date. */
  readonly field: string;
  readonly seconds: number;
}

/** The options of a collection, checked and completed. */
export interface CollectionSettings {
  readonly name: string;
  readonly type: 'DOCUMENT_BASED' | 'KEY_VALUE_BASED';
  readonly indexes: readonly IndexDefinition[];
  /** Of the documents, as the handle's code expects them. */
  readonly version: number;
  readonly expire_after: ExpirySettings | undefined;
  /** Characters of a generated id. */
  readonly id_length: number;
  readonly created: StampSettings;
  readonly updated: StampSettings;
  readonly archived: StampSettings;
  readonly unarchived: StampSettings;
  /** Seconds. */
  readonly save_timeout: number;
  /** Whether `save_timeout` is an upper limit, and saves come earlier: where none is given. */
  readonly save_early: boolean;
  /** Changes. */
  readonly save_directly_after: number;
  /** Minutes, -1 for ever. */
  readonly cache_retention_time: number;
  /** Days, -1 for ever. */
  readonly backup_retention_time: number;
  readonly caching: boolean;
  /** Whether what reads return is frozen and shared. */
  readonly shared_documents: boolean;
  readonly auto_create_backup: boolean;
  readonly detailed_debugger_logs: boolean;
  readonly activate_drop_method: boolean;
  /**
   * Of an open handle, as the reply to `open` has it: the last end of a collection of the name.
   */
  born?: number | undefined;
}

// Defaults of the options. Bundlers inline constants, but no fields of an object.
export const ID_LENGTH = 32;
export const SAVE_TIMEOUT = 1;
export const SAVE_DIRECTLY_AFTER = 5;

const NO_STAMPS: StampSettings = { at: false, timestamp: false };

/** The settings of a collection that the engine opens by itself, without timers of its own. */
export function plainSettings(name: string, type: CollectionSettings['type']): CollectionSettings {
  return {
    name,
    type,
    indexes: [],
    version: 1,
    expire_after: undefined,
    id_length: ID_LENGTH,
    created: NO_STAMPS,
    updated: NO_STAMPS,
    archived: NO_STAMPS,
    unarchived: NO_STAMPS,
    save_timeout: SAVE_TIMEOUT,
    save_early: true,
    save_directly_after: SAVE_DIRECTLY_AFTER,
    cache_retention_time: -1,
    backup_retention_time: -1,
    caching: false,
    shared_documents: false,
    auto_create_backup: false,
    detailed_debugger_logs: false,
    activate_drop_method: false,
  };
}
