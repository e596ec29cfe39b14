import { MOST_LINES } from '../codec/exact-json/plain-json.ts';
import type { WireChange } from '../codec/exact-json/wire-changes.ts';
import type { PullAnswer } from '../replication/protocol/http-answers.ts';
import { MAX_LIMIT, PACKED_PAGE_TYPE } from '../replication/protocol/http-fields.ts';
import type { Store } from './store.ts';

/** Bytes, before they are compressed, after which a page ends; its changes end before. */
const PAGE_BYTES = 3_000_000;

/** Bytes from which a page is worth keeping that ends where the history does. */
const WORTH_KEEPING = PAGE_BYTES / 16;

/** How long a page is kept, in milliseconds: so long, new devices see it as it was. */
const KEPT_MS = 5 * 60_000;

/** How long a page may take, in milliseconds: the answer of a store may never come. */
const PATIENCE_MS = 10_000;

/** Pages that are put together at once; further requests get ordinary ones. */
const MOST_BUILT = 4;

/** A page as it is sent. */
interface KeptPage {
  readonly body: Uint8Array;
  readonly checkpoint: string;
  readonly more: boolean;
  /** The key of the page behind it. */
  readonly next: string;
  /** In milliseconds of the epoch. */
  readonly madeAt: number;
}

/** Whether a client says that it reads them, and this runtime can make them. */
export function takesPackedPages({ headers }: Request): boolean {
  const accepted = headers.get('accept')?.split(',') ?? [];
  const isAccepted = accepted.some((type) => type.trim() === PACKED_PAGE_TYPE);
  return isAccepted && typeof CompressionStream === 'function';
}

/** Compresses the parts of a text. */
type Pack = (parts: Uint8Array[]) => Promise<Uint8Array>;

const packed: Pack = async (parts) => {
  const stream = new Blob(parts as BlobPart[]).stream();
  const sent = stream.pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(sent).arrayBuffer());
};

const encoder = new TextEncoder();

/**
 * Long pages for devices that have nothing yet. Those that are followed by others are kept as they
 * are sent, for whom may see every document: what changes after has a later place, and so comes in
 * a later page. docs/decisions/064-first-pull.md has the reasons.
 */
export class FirstPulls {
  readonly #limit: number;
  readonly #pack: Pack;
  readonly #kept = new Map<string, KeptPage>();
  readonly #building = new Map<string, Promise<KeptPage | undefined>>();
  #builds = 0;
  #bytes = 0;

  /** @param limit Bytes that are kept. */
  constructor(limit: number, pack = packed) {
    this.#limit = limit;
    this.#pack = pack;
  }

  /** @returns `undefined` where an ordinary page is to answer, such as after a reset. */
  async answer(
    store: Store,
    collection: string,
    after: string | undefined,
  ): Promise<Response | undefined> {
    const key = keyOf(collection, after);
    let page = this.#kept.get(key);
    // Workers end timers with the request that has begun them.
    if (page && Date.now() - page.madeAt >= KEPT_MS) {
      this.#drop(key);
      page = undefined;
    }
    // Restored since: the store has another history, and nothing of that is kept.
    if (page && (await store.pull(collection, page.checkpoint, 1)).reset) {
      for (const one of this.#kept.keys()) this.#drop(one);
      page = undefined;
    }
    // A last page that was begun for others may be older than this request.
    const building = this.#building.get(key);
    const shared = page ?? (building && (await building));
    page = shared?.more
      ? shared
      : await this.#build(key, after === undefined, () => this.#read(store, collection, after));
    return page && responseOf(page);
  }

  async #build(
    key: string,
    isFirst: boolean,
    make: () => Promise<KeptPage | undefined>,
  ): Promise<KeptPage | undefined> {
    if (this.#builds === MOST_BUILT) return undefined;
    this.#builds++;
    const building = inTime(make());
    this.#building.set(key, building);
    try {
      const page = await building;
      // One that begins anywhere would only fill the memory.
      const isNext = isFirst || [...this.#kept.values()].some(({ next }) => next === key);
      if (page?.more && isNext) this.#keep(key, page);
      return page;
    } finally {
      this.#builds--;
      this.#building.delete(key);
    }
  }

  /** Once it is full, what is there stays: pulls begin with the first pages. */
  #keep(key: string, page: KeptPage): void {
    if (this.#kept.has(key) || this.#bytes + page.body.length > this.#limit) return;
    this.#kept.set(key, page);
    this.#bytes += page.body.length;
    const timer: unknown = setTimeout(() => {
      if (this.#kept.get(key) === page) this.#drop(key);
    }, KEPT_MS);
    // In Node it must not keep the process running.
    (timer as { unref?(): void }).unref?.();
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.body.length ?? 0;
    this.#kept.delete(key);
  }

  /** @returns `undefined` where the history is another one than that of `after`. */
  async #read(
    store: Store,
    collection: string,
    after: string | undefined,
  ): Promise<KeptPage | undefined> {
    const parts: Uint8Array[] = [];
    const rejected: NonNullable<PullAnswer['rejected']>[number][] = [];
    let [bytes, changes, checkpoint, more] = [0, 0, after, true];
    while (more && bytes < PAGE_BYTES && changes <= MOST_LINES - MAX_LIMIT) {
      const page = await store.pull(collection, checkpoint, MAX_LIMIT);
      if (page.reset) return undefined;
      const part = encoder.encode(page.changes.map(lineOf).join(''));
      // One document may be larger than all others together.
      if (bytes > 0 && bytes + part.length > 2 * PAGE_BYTES) break;
      parts.push(part);
      rejected.push(...(page.rejected ?? []));
      bytes += part.length;
      changes += page.changes.length;
      ({ checkpoint, more } = page);
    }
    // Later changes are then a page of their own, which is read for each device.
    more ||= bytes >= WORTH_KEEPING;
    const end = { checkpoint: checkpoint as string, more };
    const head = encoder.encode(
      `${JSON.stringify({ ...end, ...(rejected[0] && { rejected }) })}\n`,
    );
    const next = keyOf(collection, checkpoint);
    return { body: joined(head, await this.#pack(parts)), next, madeAt: Date.now(), ...end };
  }
}

/** `undefined` after a while. */
function inTime<T>(making: Promise<T>): Promise<T | undefined> {
  const late = new Promise<undefined>((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS);
    const clear = () => clearTimeout(timer);
    making.then(clear, clear);
  });
  return Promise.race([making, late]);
}

const keyOf = (collection: string, after: string | undefined) =>
  JSON.stringify([collection, after]);

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** Without its key: only who has pushed asks for that. */
function lineOf({ key: _, document, ...change }: WireChange): string {
  const { _id, ...fields } = document ?? {};
  return `${JSON.stringify(document ? { ...change, fields } : change)}\n`;
}

function responseOf({ body }: KeptPage): Response {
  return new Response(body as BodyInit, {
    headers: {
      'content-type': PACKED_PAGE_TYPE,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  });
}
