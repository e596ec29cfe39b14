import type { DatabaseClient } from '../../client/database-client.ts';
import type { BackupEnvironment } from './page-environment.ts';

/** The time of the last save, as far as this page knows; `undefined` while something is unsaved. */
type Seen = string | undefined;

/** When a backup was last made or found unnecessary, and whether something has changed since. */
export class LastCheck {
  readonly #db: DatabaseClient;
  readonly #key: string | undefined;
  readonly #environment: BackupEnvironment;
  #at: number | undefined;
  #seen: Seen;

  /** @param target The id of the target; without one the target itself is asked. */
  constructor(db: DatabaseClient, target: string | undefined, environment: BackupEnvironment) {
    this.#db = db;
    this.#key = target && `cairn:checked:${JSON.stringify([db.name, target])}`;
    this.#environment = environment;
  }

  /** @param ask Asks the target. */
  async read(ask: () => Promise<number | undefined>): Promise<number | undefined> {
    const stored = this.#key ? Number(this.#environment.memory.read(this.#key)) : 0;
    this.#at ??= stored > 0 ? stored : await ask();
    return this.#at;
  }

  /** What is saved now. */
  get now(): Seen {
    const { last_save, unsaved } = this.#db.status;
    return unsaved > 0 ? undefined : String(last_save?.getTime());
  }

  /** Whether something may have changed since this page has noted. */
  get hasChanged(): boolean {
    return this.#seen === undefined || this.#seen !== this.now;
  }

  /** @param seen As of before the backup. */
  note(seen: Seen = this.now): void {
    this.#seen = seen;
    this.#at = this.#environment.clock.now();
    if (this.#key) this.#environment.memory.write(this.#key, String(this.#at));
  }
}
