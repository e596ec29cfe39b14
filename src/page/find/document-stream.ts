import type { Stamp, Stored } from '../../api/document-types.ts';
import type { Coroutine } from '../../async/coroutine.ts';
import type { Body, DecodedBody } from '../../codec/body.ts';
import { decode, encode } from '../../codec/capture.ts';
import { deepFreeze } from '../../codec/deep-freeze.ts';
import type { DocumentBuilder } from '../../protocol/managed.ts';
import type { ScanReply } from '../../protocol/requests.ts';
import { compileSelect } from '../../query/projection.ts';
import { buildFrom } from '../sending/documents.ts';
import { post, request, type Sender } from '../sending/sender.ts';
import { type FindQuery, notePageEnd } from './find-query.ts';

export type Build<T extends object, S extends Stamp> = (
  ...parts: Parameters<DocumentBuilder>
) => Stored<T, S>;

interface Arrived {
  readonly rank: number;
  readonly chunk: ScanReply;
  readonly index: number;
  /** The document itself, where readers share it. */
  readonly shared: object | undefined;
}

/** The matching documents in order, chunk by chunk; only one chunk is in memory. */
export class DocumentStream<T extends object, S extends Stamp> {
  readonly #build: Build<T, S>;
  readonly #query: FindQuery;
  readonly #sequence = new Sequence<Arrived>();
  readonly #select: ((document: object) => object) | undefined;
  /** Cursor of the engine's scan; `undefined` before the first chunk and after the last. */
  #cursor: number | undefined;
  #state: 'new' | 'open' | 'done' = 'new';
  #passed = 0;
  /** Whether the limit is reached. */
  #full = false;
  /** Whether readers share documents: what is selected from them is frozen too. */
  #freezes = false;

  constructor(build: Build<T, S>, query: FindQuery) {
    this.#build = build;
    this.#query = query;
    this.#select = query.select === undefined ? undefined : compileSelect(query.select);
  }

  /** The next documents, `undefined` at the end. A chunk may be empty. */
  *read(sender: Sender): Coroutine<Stored<T, S>[] | undefined> {
    if (this.#full || this.#isDone()) return undefined;
    const { selection, pipeline } = this.#query;
    // What the engine selects is made for this query.
    const reading = selection.select || pipeline ? undefined : sender.shared?.reading();
    const shared = reading?.ask;
    const chunk =
      this.#state === 'new'
        ? yield* request(
            sender,
            pipeline
              ? { op: 'aggregate', ...selection, pipeline }
              : { op: 'scan', ...selection, shared },
          )
        : yield* request(sender, {
            ...{ op: 'scanNext', shared },
            cursor: this.#cursor as number,
            mayHang: selection.mayHang,
          });
    this.#cursor = chunk.cursor;
    const documents = chunk.shared && reading?.take(chunk.shared);
    this.#freezes = sender.shared !== undefined;
    if (this.#isDone()) {
      // The stream ended while the chunk was in flight.
      if (chunk.cursor !== undefined) post(sender, { op: 'scanEnd', cursor: chunk.cursor });
      return undefined;
    }
    this.#state = chunk.cursor === undefined ? 'done' : 'open';
    const arrived = Array.from(chunk.ranks, (rank, index) => ({
      ...{ rank, chunk, index },
      shared: documents?.[index],
    }));
    const floor = this.#state === 'done' ? Number.POSITIVE_INFINITY : chunk.floor;
    const certain = chunk.sorted ? arrived : this.#sequence.push(arrived, floor);
    return this.#take(certain, this.#state === 'done' ? chunk.end : undefined);
  }

  /** Must be called when the reader stops. */
  end(sender: Sender): void {
    if (this.#state === 'open') post(sender, { op: 'scanEnd', cursor: this.#cursor as number });
    this.#state = 'done';
  }

  #isDone(): boolean {
    return this.#state === 'done';
  }

  #take(arrived: readonly Arrived[], end: ScanReply['end']): Stored<T, S>[] {
    const { test, skip, limit } = this.#query;
    const documents: Stored<T, S>[] = [];
    let last: { rank: number; document: object } | undefined;
    for (const { chunk, index, rank, shared } of arrived) {
      const document = (shared as Stored<T, S>) ?? this.#read(chunk, index);
      if (test && !test(document)) continue;
      if (++this.#passed <= skip) continue;
      const taken = this.#select ? (this.#select(document) as Stored<T, S>) : document;
      if (this.#freezes && taken !== shared) deepFreeze(taken);
      documents.push(taken);
      last = { rank, document };
      this.#full = this.#passed - skip >= limit;
      if (this.#full) break;
    }
    if (end) notePageEnd(documents.at(-1), this.#query, end);
    else if (last && Number.isFinite(limit)) {
      const { rank, document } = last;
      notePageEnd(documents.at(-1), this.#query, { rank, body: encode(document, 'after') });
    }
    return documents;
  }

  #read(chunk: ScanReply, index: number): Stored<T, S> {
    const { keys, flags, stamps, bodies, whole } = chunk;
    const body = bodies[index] as Body | DecodedBody;
    const document = whole
      ? decode(body as Body)
      : buildFrom(
          this.#build,
          keys[index] as string,
          flags[index] as number,
          stamps?.[index],
          body,
        );
    return document as Stored<T, S>;
  }
}

/**
 * Restores insertion rank among items that arrive segment by segment: holds back items until their
 * rank is certain.
 */
class Sequence<T extends { readonly rank: number }> {
  #held: T[] = [];

  /**
   * @param items The next items.
   * @param floor Lower bound of the ranks still to come.
   * @returns the items whose rank is certain.
   */
  push(items: T[], floor: number): T[] {
    const last = items.at(-1);
    if (this.#held.length === 0 && (!last || last.rank < floor) && isAscending(items)) return items;
    const all = this.#held.concat(items).sort((a, b) => a.rank - b.rank);
    const certain = all.findIndex(({ rank }) => rank >= floor);
    this.#held = certain < 0 ? [] : all.slice(certain);
    return certain < 0 ? all : all.slice(0, certain);
  }
}

function isAscending(items: readonly { readonly rank: number }[]): boolean {
  return items.every(({ rank }, index) => index === 0 || (items[index - 1]?.rank ?? 0) < rank);
}
