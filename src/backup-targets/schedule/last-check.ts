import type { DatabaseClient } from '../../page/client/database-client.ts';
import { markKey, marksOf } from '../../platform/page-store.ts';
import type { BackupEnvironment } from './page-environment.ts';

/** Begins the names of marks that say when a target was last checked. */
const TARGET = 'target';

/**
 * The ids of the targets that a database of this browser was backed up to, such as
 * `webdav:https://…/`; without credentials. An app whose data was evicted knows by them where to
 * restore from, if it does not know anyway.
 *
 * @param name The name of the database.
 */
export function rememberedTargets(name: string): string[] {
  return marksOf(name).flatMap(([kind, id]) => (kind === TARGET && id ? id : []));
}

/** The number of saves seen by this page; `undefined` while something is unsaved. */
type Seen = number | undefined;

/** When a backup was last made or found unnecessary, and whether something has changed since. */
export class LastCheck {
  readonly #db: DatabaseClient;
  readonly #key: string | undefined;
  readonly #environment: BackupEnvironment;
  #at: number | undefined;
  #saves = 0;
  #seen: Seen;

  /** @param target The id of the target; without one the target itself is asked. */
  constructor(db: DatabaseClient, target: string | undefined, environment: BackupEnvironment) {
    this.#db = db;
    this.#key = target && markKey(db.name, TARGET, target);
    this.#environment = environment;
  }

  async read(ask: () => Promise<number | undefined>): Promise<number | undefined> {
    const stored = this.#key ? Number(this.#environment.memory.read(this.#key)) : 0;
    this.#at ??= stored > 0 ? stored : await ask();
    return this.#at;
  }

  /** Counts the saves of changes. @returns the function that ends that. */
  watch(): () => void {
    return this.#db.on('save', () => void this.#saves++);
  }

  get now(): Seen {
    return this.#db.status.unsaved > 0 ? undefined : this.#saves;
  }

  /** Whether something may have changed since this page has noted. */
  get hasChanged(): boolean {
    return this.#seen === undefined || this.#seen !== this.now;
  }

  /** @param seen As of before the backup. */
  note(seen: Seen): void {
    this.#seen = seen;
    this.#at = this.#environment.clock.now();
    if (this.#key) this.#environment.memory.write(this.#key, String(this.#at));
  }
}
