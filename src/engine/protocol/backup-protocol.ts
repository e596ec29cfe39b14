import type { FilePart } from '../../backup/file/file-contents.ts';
import type { VerificationResult } from '../../backup/segment-verifier.ts';

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
export interface Verification extends VerificationResult {
  /** The backups, newest first. */
  readonly backups: readonly (VerificationResult & { readonly name: string })[];
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
  /** Pins a backup, to be written to a file. */
  exportBackup: { ask: { name: string }; reply: { readonly cursor: number } };
  /** The next part of the file, `undefined` at its end. */
  exportNext: { ask: { cursor: number }; reply: FilePart | undefined };
  exportEnd: { ask: { cursor: number }; reply: undefined };
  /** Imports a file whose parts follow; answered with the number of documents once the data is live. */
  importBackup: { ask: { call: number; merge: boolean }; reply: number };
  /** The next part, none at the end. Answered with the documents so far, `undefined` if the import wants no more. */
  importPart: { ask: { call: number; part: FilePart | undefined }; reply: number | undefined };
}
