import { Mutex } from '../async/mutex.ts';
import { asCairnError } from '../errors/errors.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import type { EngineEnvironment } from './collection-context.ts';
import type { Backlog } from './engine-events.ts';
import { HostedCollection } from './hosted-collection.ts';
import { parts } from './parts.ts';

/** The open collections of an engine, by name. At most one of a name is open at a time. */
export class OpenCollections {
  readonly #environment: EngineEnvironment;
  readonly #byName = new Map<string, HostedCollection>();
  /** Those being dropped, which come back where that fails. */
  readonly #leaving = new Set<HostedCollection>();
  /**
   * By name, what must end before a collection of the name opens: a drop, or an import while it is
   * not open.
   */
  readonly #ahead = new Map<string, Promise<unknown>>();
  /** Renames and imports run one after the other: two could wait for each other's collections. */
  readonly order = new Mutex();
  /** Settles when nothing is left of what drops leave behind. */
  clearing: Promise<unknown> = Promise.resolve();

  constructor(environment: EngineEnvironment) {
    this.#environment = environment;
  }

  get usable(): HostedCollection[] {
    return [...this.#byName.values()].filter(({ availability }) => !availability.failed);
  }

  named(name: string): HostedCollection | undefined {
    return this.#byName.get(name);
  }

  isUsed(name: string): boolean {
    return this.#byName.has(name) || this.#ahead.has(name);
  }

  get backlog(): Backlog {
    let unsaved = 0;
    let since = Number.POSITIVE_INFINITY;
    for (const { records } of this.#all) {
      unsaved += records.unsaved;
      since = Math.min(since, records.unsavedSince ?? since);
    }
    return { unsaved, unsaved_since: Number.isFinite(since) ? new Date(since) : undefined };
  }

  get #all(): Iterable<HostedCollection> {
    // Hot path: the status asks after every batch, and nearly always nothing leaves.
    if (this.#leaving.size === 0) return this.#byName.values();
    return new Set([...this.#byName.values(), ...this.#leaving]);
  }

  /** The collection of these settings, opened if it is not open. */
  open(settings: CollectionSettings): HostedCollection {
    const { name } = settings;
    const open = this.#byName.get(name);
    if (open && !open.availability.failed) return open;
    const collection = this.construct(settings);
    this.#byName.set(name, collection);
    return collection;
  }

  /**
   * Gives a collection another name, which must be free. Collections of that name that are
   * constructed from now on wait.
   *
   * @throws {CollectionError} `collection_missing`, `name_taken`
   */
  rename(from: string, to: string): Promise<void> {
    const isOpen = this.#byName.get(to)?.availability.failed === false;
    // Drops; imports and other renames have ended.
    const ahead = isOpen ? Promise.resolve() : this.clearing;
    const renaming = ahead.then(async () => {
      const { renameAnyway } = await parts.load('backups');
      const open = this.#byName.get(from);
      await renameAnyway(this, this.#environment.storage, from, to, isOpen);
      if (this.#byName.get(from) === open) this.#byName.delete(from);
    });
    const ended = renaming.catch(() => undefined);
    if (!isOpen) this.goAhead(to, ended);
    return renaming;
  }

  /** Must be called after a batch: saves what is due, sends the events of its changes. */
  settle(changed: Iterable<HostedCollection>): void {
    for (const collection of changed) collection.settle();
    this.#environment.events.sendChanges();
  }

  /**
   * Saves every collection, and waits for drops. Rejects with the first failure, after all have
   * been tried.
   */
  async save(): Promise<void> {
    const saves = Array.from(this.#all, (collection) => collection.flush());
    for (const result of await Promise.allSettled(saves)) {
      if (result.status === 'rejected') throw result.reason;
    }
  }

  /** Writes what the next opening of each is faster by. Never rejects: failures are reported. */
  async finish(): Promise<void> {
    await Promise.all(Array.from(this.#byName.values(), ({ lifecycle }) => lifecycle.finish()));
  }

  /** Ends timers and writes of all. Unsaved changes are lost: save first. */
  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#byName.values(), ({ lifecycle }) => lifecycle.stop()));
    await this.clearing;
  }

  /** A collection that only its caller uses. */
  construct(settings: CollectionSettings): HostedCollection {
    const dropping = (collection: HostedCollection, drop: Promise<unknown>) =>
      this.#noteDrop(collection, drop);
    const ahead = this.#ahead.get(settings.name);
    return new HostedCollection(settings, this.#environment, dropping, ahead);
  }

  #noteDrop(collection: HostedCollection, drop: Promise<unknown>): void {
    const { name } = collection.settings;
    if (this.#byName.get(name) === collection) this.#byName.delete(name);
    this.#leaving.add(collection);
    const ends = () => void this.#leaving.delete(collection);
    drop.then(ends, ends);
    const environment = this.#environment;
    const clearUp = () =>
      parts
        .load('backups')
        .then((code) => code.clearUp(this, environment, name))
        .catch((error: unknown) => environment.events.reportError(asCairnError(error)));
    // A drop that fails leaves the collection as it was. One that was constructed meanwhile does
    // not open: two of one name would overwrite each other's segments.
    const ended = drop.then(clearUp, (error: unknown) => {
      this.#byName.set(name, collection);
      throw error;
    });
    this.goAhead(name, ended);
    this.clearing = Promise.allSettled([this.clearing, ended]);
  }

  /** Makes collections of the name that are constructed from now on wait. */
  goAhead(name: string, ended: Promise<unknown>): void {
    this.#ahead.set(name, ended);
    const forget = () => {
      if (this.#ahead.get(name) === ended) this.#ahead.delete(name);
    };
    // A failure rejects the request that began it.
    ended.then(forget, forget);
  }
}
