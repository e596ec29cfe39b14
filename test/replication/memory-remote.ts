import type {
  LocalChange,
  PulledPage,
  PushResult,
  Remote,
  RemoteChange,
} from '../../src/replication/protocol/remote.ts';

interface Row {
  readonly change: RemoteChange;
  readonly place: number;
  readonly keys: readonly string[];
}

/** Places of one history. */
const EPOCH = 1_000_000;

/** A server in memory, as simple as the rules of {@link Remote} allow. */
export class MemoryRemote implements Remote<number> {
  readonly id = 'memory:test';
  readonly rows = new Map<string, Row>();
  /** Every push, in order. */
  readonly pushes: (readonly LocalChange[])[] = [];
  /** Runs before each call; may throw. */
  before: (call: 'pull' | 'push') => void | Promise<void> = () => undefined;
  /** Runs after a push took effect; may throw, so that its answer is lost. */
  after: () => void | Promise<void> = () => undefined;
  /** What it stores of a document. */
  stored: (document: object) => object = (document) => document;
  /** Decides whether a row is refused. */
  refuse: (row: LocalChange) => string | undefined = () => undefined;
  /** Whether it sends the keys of pushes, only keeps them, or knows none. */
  keys: 'sent' | 'kept' | 'none' = 'sent';
  epoch = 1;
  #last = EPOCH;
  #rings = new Set<() => void>();

  async pull(after: number | undefined, { limit }: { readonly limit: number }) {
    await this.before('pull');
    const isReset = after !== undefined && Math.floor(after / EPOCH) !== this.epoch;
    const from = isReset || after === undefined ? this.epoch * EPOCH : after;
    const changes = [...this.rows.values()]
      .filter(({ place }) => place > from)
      .sort((a, b) => a.place - b.place);
    const page = changes.slice(0, limit);
    return {
      changes: page.map(({ change }) => this.#sendable(change)),
      checkpoint: page.at(-1)?.place ?? from,
      more: page.length < changes.length,
      ...(isReset && { reset: true as const }),
    } satisfies PulledPage<number>;
  }

  async push(rows: readonly LocalChange[]): Promise<PushResult[]> {
    await this.before('push');
    this.pushes.push(structuredClone(rows));
    const results = rows.map((row) => this.#accept(structuredClone(row)));
    await this.after();
    return results;
  }

  async *watch(after: number, { signal }: { readonly signal: AbortSignal }): AsyncIterable<void> {
    while (this.#last <= after)
      await new Promise<void>((resolve, reject) => {
        this.#rings.add(resolve);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    yield;
  }

  /** Changes a document as another client would. */
  write(id: string, document: object | undefined): void {
    this.#put(
      { id, base: undefined, document: document && { _id: id, ...document }, key: 'x' },
      [],
    );
  }

  /**
   * Changes a document as another client would that has seen it: the server still knows who changed
   * it before.
   */
  edit(id: string, fields: object): void {
    const { change, keys } = this.rows.get(id) as Row;
    this.#put({ id, base: undefined, document: { ...change.document, ...fields }, key: 'y' }, keys);
  }

  /** Another history begins, with what `fill` writes. */
  restore(fill: () => void): void {
    this.#last = ++this.epoch * EPOCH;
    this.rows.clear();
    fill();
    this.#ring();
  }

  document(id: string): object | undefined {
    return this.rows.get(id)?.change.document ?? undefined;
  }

  documents(): object[] {
    return [...this.rows.values()].flatMap(({ change }) => change.document ?? []);
  }

  #accept(row: LocalChange): PushResult {
    const reason = this.refuse(row);
    if (reason) return { rejected: { reason } };
    const known = this.rows.get(row.id);
    if (this.keys !== 'none' && known?.keys.includes(row.key)) {
      const { version, document } = known.change;
      return known.change.key === row.key || !document ? { version } : { version, document };
    }
    const isNew = !known?.change.document;
    const { change = { id: row.id, version: 'none', document: undefined } } = known ?? {};
    if (isNew && !row.document) return { version: change.version };
    if (row.base === undefined ? !isNew : change.version !== row.base)
      return { conflict: this.#sendable(change) };
    const document = row.document && this.stored(row.document);
    const version = this.#put({ ...row, document }, known?.keys ?? []);
    return document === row.document ? { version } : { version, document: document as object };
  }

  #sendable(change: RemoteChange): RemoteChange {
    const { key, ...rest } = structuredClone(change);
    return this.keys === 'sent' && key !== undefined ? { ...rest, key } : rest;
  }

  #put({ id, document, key }: LocalChange, keys: readonly string[]): string {
    const place = ++this.#last;
    const version = `${place}-${this.epoch}`;
    this.rows.set(id, {
      change: { id, version, document, key },
      place,
      keys: [...keys, key].slice(-8),
    });
    this.#ring();
    return version;
  }

  #ring(): void {
    for (const ring of this.#rings) ring();
    this.#rings.clear();
  }
}
