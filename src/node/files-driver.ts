import { join } from 'node:path';
import { databaseDestroyed } from '../storage/drivers/database-id.ts';
import type { Storage, StorageDriver, StorageEvents } from '../storage/drivers/driver.ts';
import { deleteDatabaseFiles, openDatabaseFiles } from './database-files.ts';
import { folderNameOf } from './folder-name.ts';
import type { LevelDatabase } from './level-database.ts';
import { LevelStorage } from './level-storage.ts';

/** A database that is open in this process. */
interface SharedDatabase {
  users: number;
  readonly database: Promise<LevelDatabase>;
}

/** The databases of one directory. Each can be opened once, so all openings in this process share it. */
export class FilesDriver implements StorageDriver {
  readonly kind = 'files';
  readonly #directory: string;
  readonly #open = new Map<string, SharedDatabase>();
  /** By name: the closings and deletions under way, which keep the lock. They never reject. */
  readonly #ending = new Map<string, Promise<unknown>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async open(name: string, events: StorageEvents): Promise<Storage> {
    const shared = this.#open.get(name) ?? this.#begin(name);
    shared.users++;
    const database = await shared.database;
    database.listeners.add(events);
    return new LevelStorage(database, async () => {
      database.listeners.delete(events);
      if (--shared.users > 0) return;
      this.#forget(name, shared);
      await this.#end(name, database.end());
    });
  }

  async delete(name: string): Promise<void> {
    const shared = this.#open.get(name);
    this.#open.delete(name);
    const ended = this.#ended(name);
    const deleting = async () => {
      await ended;
      const database = await shared?.database.catch(() => undefined);
      await database?.end(databaseDestroyed(name));
      await deleteDatabaseFiles(this.#folderOf(name), name);
    };
    await this.#end(name, deleting());
  }

  #begin(name: string): SharedDatabase {
    const database = this.#ended(name).then(() => openDatabaseFiles(this.#folderOf(name), name));
    const shared = { users: 0, database };
    this.#open.set(name, shared);
    // The next opening tries again.
    database.catch(() => this.#forget(name, shared));
    return shared;
  }

  #forget(name: string, shared: SharedDatabase): void {
    if (this.#open.get(name) === shared) this.#open.delete(name);
  }

  #folderOf(name: string): string {
    return join(this.#directory, folderNameOf(name));
  }

  #ended(name: string): Promise<unknown> {
    return this.#ending.get(name) ?? Promise.resolve();
  }

  #end(name: string, ending: Promise<void>): Promise<void> {
    const ended = Promise.allSettled([this.#ended(name), ending]).then(() => {
      if (this.#ending.get(name) === ended) this.#ending.delete(name);
    });
    this.#ending.set(name, ended);
    return ending;
  }
}
