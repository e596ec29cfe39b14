import type { LiveSnapshot } from '../../api/live-options.ts';
import { inMicrotask } from '../../async/next-turn.ts';
import { asCairnError, type CairnError, nameCollection } from '../../errors/errors.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { LiveSpec, LiveUpdate } from '../../protocol/live-protocol.ts';
import type { RequestFlags } from '../../protocol/requests.ts';
import {
  type FindQuery,
  findQuery,
  type ParseSearch,
  pipelineQuery,
  searching,
} from '../find/find-query.ts';
import { refuseInclude } from '../find/search.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import type { HandleRequest } from '../sending/sender.ts';
import { LiveList, LiveRecord } from './live-list.ts';
import type { LiveSource } from './live-source.ts';

/**
 * Keeps the snapshot of a live query up to date with updates from the engine. After a failover it
 * registers with the new engine under a new number, so late messages of the old engine match no
 * query. docs/decisions/011-live-queries.md has the reasons.
 */
export class LiveFeed {
  readonly #source: LiveSource;
  readonly #channel: HandleChannel;
  readonly #publish: (snapshot: LiveSnapshot<unknown>) => void;
  readonly #find: FindQuery | undefined;
  readonly #list: LiveList;
  readonly #record: LiveRecord;
  #snapshot: LiveSnapshot<unknown> | undefined;
  /** The number of the live query in the engine, while there is one. */
  #live: number | undefined;
  /** Whether the engine has accepted the query. */
  #begun = false;

  constructor(
    source: LiveSource,
    channel: HandleChannel,
    publish: (snapshot: LiveSnapshot<unknown>) => void,
  ) {
    this.#source = source;
    this.#channel = channel;
    this.#publish = publish;
    const { search, pipeline, asked, settings } = source;
    if (!settings.relations) refuseInclude(source);
    this.#find = asked
      ? searching(channel.parseSearch as ParseSearch | undefined)('hits', ...asked)
      : search && ('pipeline' in source ? pipelineQuery(search, pipeline) : findQuery(search));
    this.#list = new LiveList(source, this.#find, channel.shared);
    this.#record = new LiveRecord(source, channel.registry);
  }

  start(snapshot: LiveSnapshot<unknown>): void {
    if (this.#live !== undefined) return;
    this.#snapshot = snapshot;
    this.#record.begin(snapshot);
    this.#begin();
    if (snapshot.error) this.#tell({ ...snapshot, status: 'pending', error: undefined });
  }

  /** Ends with the last reader: the data goes stale, so the status is `pending` again. */
  end(): void {
    this.#record.end();
    if (this.#live === undefined) return;
    this.#leave();
    const { data, status } = this.#snapshot ?? {};
    if (status === 'ready') this.#tell({ status: 'pending', data, error: undefined });
  }

  /** @param isKnown Whether an engine may have it. */
  #leave(isKnown = true): void {
    const live = this.#live;
    if (live === undefined) return;
    this.#live = undefined;
    const unlisten = () => this.#channel.unlisten(live);
    // A lost engine or a dropped collection has no live query to end.
    if (isKnown) this.#channel.sendInOrder({ op: 'liveEnd', live }).then(unlisten, unlisten);
    else unlisten();
  }

  #begin(): void {
    const { throttle } = this.#source;
    this.#list.restart();
    this.#begun = false;
    const live = this.#channel.listen((signal) => {
      // An engine in this thread sends updates in the middle of its work; listeners must not
      // reenter it.
      inMicrotask(() => {
        if (this.#live === live) this.#take(signal);
        // The engine has not got the `liveEnd`, which may wait for a change, whose reply waits for
        // this.
        else this.#channel.send({ op: 'liveNext', live }).catch(() => undefined);
      });
    });
    this.#live = live;
    const { needs, related } = this.#find?.selection ?? {};
    const flags = { mayHang: this.#mayHang, needs, related };
    this.#send({ op: 'live', live, spec: this.#spec(), throttle, ...flags }, () => {
      this.#begun = true;
    });
  }

  get #mayHang(): RequestFlags['mayHang'] {
    return this.#find?.selection.mayHang;
  }

  #spec(): LiveSpec {
    const { key, count } = this.#source;
    const find = this.#find;
    if (!find) return { kind: 'item', key: key as Key };
    if (find.pipeline) return { ...find.selection, kind: 'aggregate', pipeline: find.pipeline };
    return { ...find.selection, kind: count && !find.test ? 'count' : 'list' };
  }

  #take(signal: LiveUpdate): void {
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

  /** Keeps the data and compares it with the new result. */
  #restart(): void {
    // The channel retries a request without a reply; parts of the old engine are void.
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
    const named = nameCollection(cause, this.#source.settings.name);
    const error = named instanceof Error ? named : asCairnError(named);
    // Where its code did not load there is no engine, and a request would load it again.
    this.#leave((error as Partial<CairnError>).code !== 'load_failed');
    this.#tell({ status: 'error', data: this.#snapshot?.data, error });
  }

  #tell(snapshot: LiveSnapshot<unknown>): void {
    this.#snapshot = snapshot;
    this.#record.note(snapshot);
    this.#publish(snapshot);
  }

  /** Acknowledges the update: the engine sends no more before that. */
  #next(mayHang?: RequestFlags['mayHang']): void {
    if (this.#live !== undefined) this.#send({ op: 'liveNext', live: this.#live, mayHang });
  }

  /** Sends a request about the current live query. */
  #send(request: HandleRequest<'live' | 'liveNext'>, answered?: () => void): void {
    const live = this.#live;
    // `liveNext` must not queue behind an exclusive call, which may wait for the update that it
    // acknowledges.
    const sent =
      request.op === 'live' ? this.#channel.sendInOrder(request) : this.#channel.send(request);
    sent.then(
      () => this.#live === live && answered?.(),
      (error: unknown) => {
        if (this.#live === live) this.#fail(error);
      },
    );
  }
}

/** Whether two results are equal: unchanged documents are the same objects. */
function isSame(before: unknown, after: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return Object.is(before, after);
  if (before.length !== after.length) return false;
  // `every` skips holes, which a value at a key may have.
  for (let index = 0; index < before.length; index++) {
    if (!Object.is(before[index], after[index])) return false;
  }
  return true;
}
