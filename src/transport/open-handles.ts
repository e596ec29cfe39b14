import type { BatchReply, Request } from '../engine/protocol.ts';
import type { CollectionSettings } from '../engine/settings.ts';
import type { Opened } from './route.ts';

/** The collections that a client has opened, so that it can open them with another engine. */
export class OpenHandles {
  readonly #settings = new Map<number, CollectionSettings>();

  /** To be called with what is about to be asked. */
  note(batch: readonly Request[]): void {
    for (const request of batch) {
      if (request.op === 'open') this.#settings.set(request.handle, request.settings);
    }
  }

  /** To be called with what was answered: handles to what was dropped lead nowhere. */
  noteAnswers(batch: readonly Request[], { values }: BatchReply): void {
    for (const [index, request] of batch.entries()) {
      if (request.op !== 'drop' || values[index] !== true) continue;
      const name = this.nameOf(request);
      for (const [handle, settings] of this.#settings) {
        // Whoever constructed it again has a handle of a later number.
        if (settings.name === name && handle <= request.handle) this.#settings.delete(handle);
      }
    }
  }

  /** The collection that a request is about. */
  nameOf({ handle }: Request): string | undefined {
    return this.#settings.get(handle)?.name;
  }

  all(): Opened {
    return [...this.#settings];
  }
}
