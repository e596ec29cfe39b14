import type { BackupReason, Snapshot } from '../../backup/snapshot.ts';
import { addSnapshot } from '../../backup/stored-snapshots.ts';
import type { UndoablePut } from '../../storage/log/undo-log.ts';
import type { CollectionBackups } from './collection-backups.ts';

/** The backup of the records that a restore or an import replaces, stored in the same write. */
export class SafetyBackup {
  readonly #backups: CollectionBackups;
  readonly #make: () => Promise<Snapshot | undefined>;
  #snapshot: Snapshot | undefined;

  private constructor(backups: CollectionBackups, make: () => Promise<Snapshot | undefined>) {
    this.#backups = backups;
    this.#make = make;
  }

  static ofPresent(backups: CollectionBackups, reason: BackupReason): SafetyBackup {
    return new SafetyBackup(backups, () => backups.present(reason));
  }

  /** @param remains The readable part of damaged data, if any. */
  static ofRemains(backups: CollectionBackups, remains: Snapshot | undefined): SafetyBackup {
    return new SafetyBackup(backups, async () => remains);
  }

  /** To be called where nothing is unsaved, and nothing else is being written. */
  async operations(): Promise<readonly UndoablePut[]> {
    this.#snapshot = await this.#make();
    return this.#snapshot
      ? addSnapshot(await this.#backups.snapshots.stored(), this.#snapshot)
      : [];
  }

  /** Its name, once it is made. */
  get name(): string | undefined {
    return this.#snapshot?.name;
  }

  stored(): void {
    this.#backups.snapshots.forget();
  }

  failed(): void {
    this.#backups.snapshots.forget();
    if (this.#snapshot) this.#backups.snapshots.noteFailed(this.#snapshot);
  }
}
