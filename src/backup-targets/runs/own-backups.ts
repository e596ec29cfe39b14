import type { TargetCalls } from '../calls/target-calls.ts';
import type { PartStore } from '../content/part-store.ts';
import type { BackupList } from '../manifest/backup-list.ts';
import type { TargetNotes } from '../manifest/target-notes.ts';

/** The backups of one device in a target. */
export interface OwnBackups {
  readonly calls: TargetCalls;
  readonly list: BackupList;
  readonly parts: PartStore;
  readonly notes: TargetNotes;
  /** The name of the newest backup, as this device remembers it: a list may lag behind. */
  readonly newest: { read(): string | undefined; write(name: string): void };
  readonly database: string;
  readonly device: string;
}
