import type { LiveEvent } from '../../protocol/event-protocol.ts';
import type { Request } from '../../protocol/requests.ts';
import type { RecordStore } from '../records/record-store.ts';
import { LiveReader } from './live-reader.ts';

/** The live queries of a session, by the client's number. */
export class SessionLives {
  readonly #emit: (event: LiveEvent) => void;
  readonly #readers = new Map<number, LiveReader>();

  constructor(emit: (event: LiveEvent) => void) {
    this.#emit = emit;
  }

  /** The reader of a request, if it is about a live query. */
  readerFor(request: Request): LiveReader | undefined {
    switch (request.op) {
      case 'live': {
        const { live } = request;
        const reader = new LiveReader((update) =>
          this.#emit({ type: 'live', detail: { live, news: update } }),
        );
        this.#readers.set(live, reader);
        return reader;
      }
      case 'liveNext':
        return this.#readers.get(request.live);
      case 'liveEnd': {
        const reader = this.#readers.get(request.live);
        this.#readers.delete(request.live);
        return reader;
      }
      default:
        return undefined;
    }
  }

  /**
   * Resolves when all queries of these collections have sent the changes so far; `undefined` if
   * they have.
   */
  catchUp(collections: Iterable<{ readonly records: RecordStore }>): Promise<unknown> | undefined {
    if (this.#readers.size === 0) return undefined;
    const changed = new Set(Array.from(collections, ({ records }) => records));
    const waiting: Promise<void>[] = [];
    for (const reader of this.#readers.values()) {
      const caughtUp = reader.catchUp(changed);
      if (caughtUp) waiting.push(caughtUp);
    }
    return waiting.length > 0 ? Promise.all(waiting) : undefined;
  }

  endAll(): void {
    for (const reader of this.#readers.values()) reader.end();
    this.#readers.clear();
  }
}
