import type { BatchReply, OpenedHandles, Request } from '../../engine/protocol/requests.ts';
import type { CollectionSettings } from '../../engine/protocol/settings.ts';

/** The collections that a client has opened, so that it can open them with another engine. */
export class OpenHandles {
  readonly #settings = new Map<number, CollectionSettings>();
  /** The handles to what is about to be dropped: who constructs it again meanwhile has another. */
  readonly #dropping = new WeakMap<Request, readonly number[]>();

  /** To be called with what is about to be asked. */
  note(batch: readonly Request[]): void {
    for (const request of batch) {
      if (request.op === 'open') this.#settings.set(request.handle, request.settings);
      else if (request.op === 'drop') this.#dropping.set(request, this.#alike(request));
    }
  }

  /** To be called with what was answered: handles to what was dropped lead nowhere. */
  noteAnswers(batch: readonly Request[], { values }: BatchReply): void {
    for (const [index, request] of batch.entries()) {
      if (request.op !== 'drop' || values[index] !== true) continue;
      for (const handle of this.#dropping.get(request) ?? []) this.#settings.delete(handle);
    }
  }

  /** The collection that a request is about. */
  nameOf({ handle }: Request): string | undefined {
    return this.#settings.get(handle)?.name;
  }

  /** All handles to the collection that a request is about. */
  #alike(request: Request): number[] {
    const name = this.nameOf(request);
    return [...this.#settings].flatMap(([handle, settings]) =>
      settings.name === name ? handle : [],
    );
  }

  all(): OpenedHandles {
    return [...this.#settings];
  }
}
