import type { HostedCollection } from './hosted-collection.ts';
import type { Request, ScanReply } from './protocol.ts';

/**
 * The scans of a session that have not come to their end. A door may leave in the middle of one, and a scan
 * that nobody ends keeps compaction waiting for as long as the engine runs.
 */
export class OpenScans {
  readonly #cursors = new Map<HostedCollection, Set<number>>();
  #ended = false;

  /** To be called with every request that was answered. */
  note(collection: HostedCollection, request: Request, reply: unknown): void {
    if (request.op === 'scanEnd') this.#cursors.get(collection)?.delete(request.cursor);
    if (request.op !== 'scan' && request.op !== 'scanNext') return;
    if (request.op === 'scanNext') this.#cursors.get(collection)?.delete(request.cursor);
    const { cursor } = reply as ScanReply;
    if (cursor === undefined) return;
    const cursors = this.#cursors.get(collection) ?? new Set();
    this.#cursors.set(collection, cursors.add(cursor));
    // The session has left while this was being read.
    if (this.#ended) this.endAll();
  }

  endAll(): void {
    this.#ended = true;
    for (const [collection, cursors] of this.#cursors) {
      for (const cursor of cursors) collection.endScan(cursor);
    }
    this.#cursors.clear();
  }
}
