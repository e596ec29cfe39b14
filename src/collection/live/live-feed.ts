import type { LiveNews, LiveSpec } from '../../engine/live/live-protocol.ts';
import type { Key } from '../../engine/protocol.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import { ask } from '../exchange.ts';
import { type FindQuery, findQuery } from '../find-query.ts';
import { run } from '../run.ts';
import { LiveList } from './live-list.ts';
import type { LiveSnapshot } from './live-snapshot.ts';
import type { LiveSource } from './live-source.ts';

/** Keeps the snapshot of a live query, by what the engine tells. */
export class LiveFeed {
  readonly #source: LiveSource;
  readonly #publish: (snapshot: LiveSnapshot<unknown>) => void;
  readonly #find: FindQuery | undefined;
  readonly #list: LiveList;
  #snapshot: LiveSnapshot<unknown> | undefined;
  /** The number of the live query in the engine, while there is one. */
  #live: number | undefined;

  constructor(source: LiveSource, publish: (snapshot: LiveSnapshot<unknown>) => void) {
    this.#source = source;
    this.#publish = publish;
    this.#find = source.search && findQuery(source.search);
    this.#list = new LiveList(source, this.#find);
  }

  start(snapshot: LiveSnapshot<unknown>): void {
    if (this.#live !== undefined) return;
    const { port, throttle } = this.#source;
    this.#snapshot = snapshot;
    this.#list.restart();
    const live = port.hear((news) => {
      // In this thread it is told in the middle of the engine's work, which listeners must not enter.
      queueMicrotask(() => this.#live === live && this.#take(news));
    });
    this.#live = live;
    if (snapshot.error) this.#tell({ ...snapshot, status: 'pending', error: undefined });
    run(port, ask({ op: 'live', live, spec: this.#spec(), throttle })).catch((error: unknown) => {
      if (this.#live === live) this.#fail(error);
    });
  }

  end(): void {
    const { port } = this.#source;
    const live = this.#live;
    if (live === undefined) return;
    this.#live = undefined;
    port.unhear(live);
    // Where the engine or the collection is gone, so is the live query.
    run(port, ask({ op: 'liveEnd', live })).catch(() => undefined);
  }

  #spec(): LiveSpec {
    const { key, count } = this.#source;
    const find = this.#find;
    if (!find) return { kind: 'item', key: key as Key };
    return { ...find.selection, kind: count && !find.test ? 'count' : 'list' };
  }

  #take(news: LiveNews): void {
    try {
      if ('error' in news) this.#fail(news.error);
      else if ('count' in news) this.#show(news.count);
      else if (this.#list.take(news)) this.#show(this.#list.data());
      else this.#next();
    } catch (error) {
      this.#fail(error);
    }
  }

  #show(data: unknown): void {
    const before = this.#snapshot;
    if (before?.status !== 'ready' || !isSame(before.data, data))
      this.#tell({ status: 'ready', data, error: undefined });
    this.#next();
  }

  #fail(cause: unknown): void {
    const error = cause instanceof Error ? cause : asCairnError(cause);
    this.end();
    this.#tell({ status: 'error', data: this.#snapshot?.data, error });
  }

  #tell(snapshot: LiveSnapshot<unknown>): void {
    this.#snapshot = snapshot;
    this.#publish(snapshot);
  }

  /** Asks for more: the page has had the time to take in what it was told. */
  #next(): void {
    const live = this.#live;
    if (live === undefined) return;
    run(this.#source.port, ask({ op: 'liveNext', live })).catch((error: unknown) => {
      if (this.#live === live) this.#fail(error);
    });
  }
}

/** Whether what is shown is what was shown: documents that did not change are the same objects. */
function isSame(before: unknown, after: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return Object.is(before, after);
  return before.length === after.length && before.every((item, index) => item === after[index]);
}
