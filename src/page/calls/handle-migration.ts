import { type FileHeader, type FilePart, versionIn } from '../../backup/file/file-contents.ts';
import { loadFailed, mayPass } from '../../errors/errors.ts';
import type { MigrationParts } from './run-migration.ts';

/** Why a collection does not open for a later call either. */
const LASTING: readonly unknown[] = ['data_damaged', 'format_newer'];

/**
 * Migrates the documents of a collection before a handle uses them. Its code loads when there are
 * any to migrate.
 */
export class HandleMigration {
  readonly #parts: MigrationParts;
  #waiting: Promise<void> | undefined;
  #failed = false;

  /** @param opened Resolves with the reply to `open`. */
  constructor(parts: MigrationParts, opened: Promise<number>) {
    this.#parts = parts;
    this.#start(
      opened.then(
        (reply) => (reply < 0 ? this.run() : undefined),
        (error: { readonly code?: string }) => {
          // Else the engine refuses each call.
          if (mayPass(error) && !LASTING.includes(error.code)) throw error;
        },
      ),
    );
  }

  /**
   * `undefined` once the documents are migrated. Rejects where they cannot be; what may work later
   * is tried again.
   */
  get waiting(): Promise<void> | undefined {
    if (this.#failed) this.#start(this.run());
    return this.#waiting;
  }

  /** @param backup Migrates its documents, in the place of the present ones. */
  async run(backup?: string): Promise<void> {
    const { runMigration } = await import('./run-migration.ts').catch(loadFailed);
    await runMigration(this.#parts, backup);
  }

  /** Migrates a section of a file, part by part; `undefined` where it is not older. */
  async importing(header: FileHeader): Promise<((part: FilePart) => FilePart) | undefined> {
    if (versionIn(header) >= this.#parts.settings.version) return undefined;
    const { migrateSection } = await import('./run-migration.ts').catch(loadFailed);
    return migrateSection(this.#parts, header);
  }

  #start(running: Promise<void>): void {
    this.#failed = false;
    this.#waiting = running.then(
      () => {
        this.#waiting = undefined;
      },
      (error: { readonly code?: string }) => {
        // The steps would fail again.
        this.#failed = !error.code?.startsWith('migration_');
        throw error;
      },
    );
    // Each call rejects with it.
    this.#waiting.catch(() => undefined);
  }
}
