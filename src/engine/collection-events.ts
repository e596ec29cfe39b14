import type { CairnError } from '../errors/errors.ts';
import type { Change, EngineEvent, EngineEvents as Events } from '../protocol/event-protocol.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import type { Watermark } from '../storage/segments/watermarks.ts';
import type { EngineEventHub } from './engine-events.ts';

/** The live queries of a collection, as far as a change concerns them. */
export interface ChangeWatcher {
  readonly size: number;
  touch(key: string): void;
}

export class CollectionEvents {
  readonly #engine: EngineEventHub;
  readonly #name: string;
  /** What storage has lost as a whole, and of this collection. */
  damage: readonly CairnError[];
  #watcher: ChangeWatcher | undefined;
  #saved: (() => void) | undefined;

  constructor(engine: EngineEventHub, { name }: CollectionSettings) {
    this.#engine = engine;
    this.damage = engine.damage;
    this.#name = name;
  }

  watchWith(watcher: ChangeWatcher): void {
    this.#watcher = watcher;
  }

  /** Newest changes may be lost; the others are there. */
  lost(error: CairnError): void {
    this.damage = [...this.damage, error];
    this.failed(error);
  }

  /** @param call Called after each save. */
  whenSaved(call: () => void): void {
    this.#saved = call;
  }

  /** Whether a live query or a session wants to know of changes. */
  get isWatched(): boolean {
    return (this.#watcher?.size ?? 0) > 0 || this.#engine.isWatched;
  }

  /** To be called once the change is made. */
  changed(id: string, kind: Change['kind']): void {
    this.#watcher?.touch(id);
    this.#engine.noteChange(this.#name, { id, kind });
  }

  sendStatus(): void {
    this.#engine.sendStatus();
  }

  /** Sends the changes of what was no batch of a client. */
  sendChanges(): void {
    this.#engine.sendChanges();
  }

  saved(changes: number): void {
    this.#engine.noteSave(this.#name, changes);
    this.#saved?.();
  }

  /** These changes are durable: clients need not replay them. */
  released(watermarks: readonly Watermark[]): void {
    if (watermarks.length > 0) this.#engine.release(watermarks);
  }

  /** Tells the clients an event of the collection. */
  tell<Name extends 'index' | 'replication' | 'migration' | 'restore'>(
    type: Name,
    detail: Omit<Events[Name], 'collection'>,
  ): void {
    const event = { type, detail: { collection: this.#name, ...detail } };
    this.#engine.emit(event as unknown as EngineEvent);
  }

  failed(error: CairnError): void {
    this.#engine.reportError(error, this.#name);
  }
}
