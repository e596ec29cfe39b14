import type { LiveNews, LiveSpec } from '../../engine/protocol/live-protocol.ts';
import type { Key, RequestFlags } from '../../engine/protocol/requests.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import { ask, type Exchange } from '../calls/exchange.ts';
import { run } from '../calls/run.ts';
import { type FindQuery, findQuery } from '../find/find-query.ts';
import { LiveList } from './live-list.ts';
import type { LiveSnapshot } from './live-snapshot.ts';
import type { LiveSource } from './live-source.ts';

/**
 * Keeps the snapshot of a live query, by what the engine tells. When a worker that hung is replaced, it asks
 * the engine in the other one under another number, so that nothing that was on its way to or from the first
 * is taken for the second's.
 */
export class LiveFeed {
  readonly #source: LiveSource;
  readonly #publish: (snapshot: LiveSnapshot<unknown>) => void;
  readonly #find: FindQuery | undefined;
  readonly #list: LiveList;
  #snapshot: LiveSnapshot<unknown> | undefined;
  /** The number of the live query in the engine, while there is one. */
  #live: number | undefined;
  /** Whether the engine has answered that it knows it. */
  #begun = false;

  constructor(source: LiveSource, publish: (snapshot: LiveSnapshot<unknown>) => void) {
    this.#source = source;
    this.#publish = publish;
    this.#find = source.search && findQuery(source.search);
    this.#list = new LiveList(source, this.#find);
  }

  start(snapshot: LiveSnapshot<unknown>): void {
    if (this.#live !== undefined) return;
    this.#snapshot = snapshot;
    this.#begin();
    if (snapshot.error) this.#tell({ ...snapshot, status: 'pending', error: undefined });
  }

  /** Nobody reads: what is shown is not kept true from here on, and not called so. */
  end(): void {
    if (this.#live === undefined) return;
    this.#leave();
    const { data, status } = this.#snapshot ?? {};
    if (status === 'ready') this.#tell({ status: 'pending', data, error: undefined });
  }

  #leave(): void {
    const { port } = this.#source;
    const live = this.#live;
    if (live === undefined) return;
    this.#live = undefined;
    port.unhear(live);
    // Where the engine or the collection is gone, so is the live query.
    run(port, ask({ op: 'liveEnd', live })).catch(() => undefined);
  }

  #begin(): void {
    const { port, throttle } = this.#source;
    this.#list.restart();
    this.#begun = false;
    const live = port.hear((signal) => {
      // In this thread it is told in the middle of the engine's work, which listeners must not enter.
      queueMicrotask(() => this.#live === live && this.#take(signal));
    });
    this.#live = live;
    this.#send(
      ask({ op: 'live', live, spec: this.#spec(), throttle, mayHang: this.#mayHang }),
      () => {
        this.#begun = true;
      },
    );
  }

  get #mayHang(): RequestFlags['mayHang'] {
    return this.#find?.selection.mayHang;
  }

  #spec(): LiveSpec {
    const { key, count } = this.#source;
    const find = this.#find;
    if (!find) return { kind: 'item', key: key as Key };
    return { ...find.selection, kind: count && !find.test ? 'count' : 'list' };
  }

  #take(signal: LiveNews): void {
    try {
      if ('error' in signal) this.#fail(signal.error);
      else if ('restarted' in signal) this.#restart();
      else if ('changed' in signal) this.#next(this.#mayHang);
      else if ('count' in signal) this.#show(signal.count);
      else if (this.#list.take(signal)) this.#show(this.#list.data());
      else this.#next();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What it shows stays, and is compared with what comes. */
  #restart(): void {
    // Where it was not answered yet it is asked again as it was, though an engine that is gone may have told of it.
    if (!this.#begun) {
      this.#list.restart();
      return;
    }
    this.#leave();
    this.#begin();
  }

  #show(now: unknown): void {
    const { status, data } = this.#snapshot ?? {};
    const same = isSame(data, now);
    if (status !== 'ready' || !same)
      this.#tell({ status: 'ready', data: same ? data : now, error: undefined });
    this.#next();
  }

  #fail(cause: unknown): void {
    const error = cause instanceof Error ? cause : asCairnError(cause);
    this.#leave();
    this.#tell({ status: 'error', data: this.#snapshot?.data, error });
  }

  #tell(snapshot: LiveSnapshot<unknown>): void {
    this.#snapshot = snapshot;
    this.#publish(snapshot);
  }

  /** Asks for more: the page has had the time to take in what it was told. */
  #next(mayHang?: RequestFlags['mayHang']): void {
    if (this.#live !== undefined) this.#send(ask({ op: 'liveNext', live: this.#live, mayHang }));
  }

  /** Sends a request about the live query there is now. */
  #send(exchange: Exchange<undefined>, answered?: () => void): void {
    const live = this.#live;
    run(this.#source.port, exchange).then(
      () => this.#live === live && answered?.(),
      (error: unknown) => {
        if (this.#live === live) this.#fail(error);
      },
    );
  }
}

/** Whether what is shown is what was shown: documents that did not change are the same objects. */
function isSame(before: unknown, after: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return Object.is(before, after);
  if (before.length !== after.length) return false;
  // `every` would pass over holes, which a value at a key may have.
  for (let index = 0; index < before.length; index++) {
    if (before[index] !== after[index]) return false;
  }
  return true;
}
