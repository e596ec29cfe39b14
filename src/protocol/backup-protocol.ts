import type { FilePart, FileRecord } from '../backup/file/file-contents.ts';
import type { VerificationResult } from '../backup/segment-verifier.ts';
import type { Body } from '../codec/body.ts';
import type { Stamps } from '../storage/segments/stored-record.ts';
import { ANY_VERSION, FED, HOLDS_QUEUE, ON_BACKUPS, PART_OF_FILE } from './operation-kinds.ts';

/** A backup of a collection. */
export interface BackupInfo {
  readonly name: string;
  readonly label: string | undefined;
  readonly created_at: Date;
  readonly documents: number;
  /**
   * Rough bytes of the segments that it names. It shares them with the collection and other
   * backups.
   */
  readonly bytes: number;
  /** Whether Cairn made it unasked; its label names the reason. */
  readonly automatic: boolean;
  /**
   * When its `backup_retention_time` is over, `undefined` for never. The two newest stay beyond
   * that.
   */
  readonly expires_at: Date | undefined;
}

/** The result of `verify()`: the collection, then each of its backups. */
export interface Verification extends VerificationResult {
  /** The backups, newest first. */
  readonly backups: readonly (VerificationResult & { readonly name: string })[];
}

/** Progress of an import. */
export interface ImportProgress {
  /** Documents read so far. */
  readonly documents: number;
  /** Bytes of the file read so far. */
  readonly bytes: number;
}

/** Records to migrate. */
export interface MigrationPart {
  /** The version that they have. */
  readonly from: number;
  /** How many documents there are in all. */
  readonly total: number;
  readonly records: readonly FileRecord[];
}

/** Asks a backup, which is pinned until the reader has ended or reads nothing for a minute. */
export interface BackupRead {
  /** Name of the backup. */
  readonly backup: string;
  /** Number of the reader. */
  readonly reader: number;
  /** Of the handle: documents of other versions are refused. */
  readonly version: number;
}

/** A record that differs between two snapshots; a side is left out where it does not exist. */
export interface ChangedRecord {
  readonly key: string;
  readonly before: RecordSide | undefined;
  readonly after: RecordSide | undefined;
}

/** A version of a record. */
export type RecordSide = readonly [flags: number, stamps: Stamps | undefined, body: Body];

/**
 * Changed records, by rank. Their values may be equal: where they cannot be compared as they are
 * stored.
 */
export interface ChangedPart {
  readonly kind: 'changes';
  readonly changes: readonly ChangedRecord[];
}

export interface BackupOperations {
  createBackup: {
    /** `asked` is an idempotency key: a retried request has the same. */
    ask: { label?: string | undefined; asked: number };
    reply: string;
  };
  listBackups: { ask: object; reply: BackupInfo[] };
  /** `false` if its documents have to be migrated first, by `migrate`. */
  loadBackup: { ask: { name: string; version: number }; reply: boolean };
  deleteBackup: { ask: { name: string }; reply: true };
  verify: { ask: object; reply: Verification };
  /** Pins a backup, to export it. */
  exportBackup: { ask: { name: string }; reply: { readonly cursor: number } };
  /** The next part of the file, `undefined` at its end. */
  exportNext: { ask: { cursor: number }; reply: FilePart | ChangedPart | undefined };
  exportEnd: { ask: { cursor: number }; reply: undefined };
  /**
   * Compares a backup with another, or with what the collection holds now. `exportNext` hands out
   * the changes.
   */
  diffBackups: {
    ask: { from: string; to: string | undefined; version: number };
    reply: { readonly cursor: number };
  };
  /** A reader of backups reads no more. */
  viewEnd: { ask: { reader: number }; reply: undefined };
  /**
   * Imports a file whose parts follow; answered with the number of documents once the data is live.
   */
  importBackup: { ask: { call: number; merge: boolean }; reply: number };
  /**
   * The next part, none at the end. Replies with the documents so far; `undefined` if the import
   * has ended.
   */
  importPart: { ask: { call: number; part: FilePart | undefined }; reply: number | undefined };
  /**
   * Migrates the documents, or those of a backup in their place, to the version of the handle;
   * parts follow. Answered once the result is live, or if there is nothing to migrate.
   */
  migrate: {
    ask: { call: number; version: number; backup: string | undefined };
    reply: undefined;
  };
  /** Migrated records. Replies with the next ones; `undefined` if the migration wants no more. */
  migratePart: {
    ask: {
      call: number;
      records: readonly FileRecord[];
      /** How many documents that were, those included that a step removed. */
      done: number;
      /** Whether all records of the part before are migrated. */
      isWhole: boolean;
    };
    reply: MigrationPart | undefined;
  };
}

/** What they do. */
export const BACKUP_OPERATIONS = {
  createBackup: ON_BACKUPS | HOLDS_QUEUE | ANY_VERSION,
  listBackups: ON_BACKUPS | ANY_VERSION,
  loadBackup: ON_BACKUPS | HOLDS_QUEUE | ANY_VERSION,
  deleteBackup: ON_BACKUPS | HOLDS_QUEUE,
  verify: ON_BACKUPS | ANY_VERSION,
  exportBackup: ON_BACKUPS | ANY_VERSION,
  exportNext: PART_OF_FILE,
  exportEnd: PART_OF_FILE,
  diffBackups: ON_BACKUPS,
  viewEnd: PART_OF_FILE,
  importBackup: ON_BACKUPS | HOLDS_QUEUE | FED,
  importPart: PART_OF_FILE,
  migrate: ON_BACKUPS | HOLDS_QUEUE | FED | ANY_VERSION,
  migratePart: PART_OF_FILE,
} satisfies Readonly<Record<keyof BackupOperations, number>>;
