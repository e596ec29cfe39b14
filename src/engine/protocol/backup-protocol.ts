import type { Verdict } from '../../backup/examine.ts';

/** A backup of a collection. */
export interface BackupInfo {
  readonly name: string;
  readonly label: string | undefined;
  readonly created_at: Date;
  readonly documents: number;
  /** Rough bytes of the segments that it names. It shares them with the collection and other backups. */
  readonly bytes: number;
  /** Whether Cairn made it by itself; its label then says why. */
  readonly automatic: boolean;
  /** When its `backup_retention_time` is over, `undefined` for never. The two newest stay beyond that. */
  readonly expires_at: Date | undefined;
}

/** What a look at everything that is stored of a collection has found. */
export interface Verification extends Verdict {
  /** The backups, newest first. */
  readonly backups: readonly (Verdict & { readonly name: string })[];
}

/** How far an import has come, in what it has read. */
export interface ImportProgress {
  readonly documents: number;
  /** Bytes of the file. */
  readonly bytes: number;
}

/** The operations on backups. */
export interface BackupOperations {
  createBackup: {
    /** What has the same `asked` is the same request, asked again because its answer was lost. */
    ask: { label?: string | undefined; asked: number };
    reply: string;
  };
  listBackups: { ask: object; reply: BackupInfo[] };
  loadBackup: { ask: { name: string }; reply: true };
  deleteBackup: { ask: { name: string }; reply: true };
  verify: { ask: object; reply: Verification };
  /** Begins to write a backup as a file. */
  exportBackup: { ask: { name: string }; reply: { readonly cursor: number } };
  /** The next bytes of the file, `undefined` at its end. */
  exportNext: { ask: { cursor: number }; reply: Uint8Array | undefined };
  exportEnd: { ask: { cursor: number }; reply: undefined };
  /** Reads a file that comes in parts; answered when all are read and what they hold is in place. */
  importBackup: { ask: { call: number; merge: boolean }; reply: number };
  /** A part of it, none at the end. Answered when it has been read, `undefined` when no more is wanted. */
  importPart: {
    ask: { call: number; bytes: Uint8Array | undefined };
    reply: ImportProgress | undefined;
  };
}
