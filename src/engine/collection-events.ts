import type { CairnError } from '../errors/errors.ts';
import type { Change, EngineEvent, EngineEvents as Events } from '../protocol/event-protocol.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import type { EngineEventHub } from './engine-events.ts';

/** The live queries of a collection, as far as a change concerns them. */
export interface ChangeWatcher {
  readonly size: number;
  touch(key: string): void;
}

export class CollectionEvents {
  readonly hub: EngineEventHub;
  readonly #name: string;
  /** What storage has lost as a whole, and of this collection. */
  damage: readonly CairnError[];
  #watcher: ChangeWatcher | undefined;
  #saved: (() => void) | undefined;

  constructor(hub: EngineEventHub, { name }: CollectionSettings) {
    this.hub = hub;
    this.damage = hub.damage;
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
    return (this.#watcher?.size ?? 0) > 0 || this.hub.isWatched;
  }

  /** To be called once the change is made. */
  changed(id: string, kind: Change['kind']): void {
    this.#watcher?.touch(id);
    this.hub.noteChange(this.#name, { id, kind });
  }

  saved(changes: number): void {
    this.hub.noteSave(this.#name, changes);
    this.#saved?.();
  }

  /** Tells the clients an event of the collection. */
  tell<Name extends 'index' | 'replication' | 'migration' | 'restore'>(
    type: Name,
    detail: Omit<Events[Name], 'collection'>,
  ): void {
    const event = { type, detail: { collection: this.#name, ...detail } };
    this.hub.emit(event as unknown as EngineEvent);
  }

  failed(error: CairnError): void {
    this.hub.reportError(error, this.#name);
  }
}
