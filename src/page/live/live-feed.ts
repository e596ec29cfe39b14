import type { LiveSnapshot } from '../../api/live-options.ts';
import { inMicrotask } from '../../async/next-turn.ts';
import type { Body } from '../../codec/body.ts';
import { decode } from '../../codec/capture.ts';
import { deepFreeze } from '../../codec/deep-freeze.ts';
import { sameValue } from '../../codec/same-value.ts';
import { asCairnError, type CairnError, nameCollection } from '../../errors/errors.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { ListPart, LiveSpec, LiveUpdate } from '../../protocol/live-protocol.ts';
import { documentBuilder } from '../../protocol/managed.ts';
import type { RequestFlags } from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import { compileSelect } from '../../query/projection.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import {
  type FindQuery,
  findQuery,
  includeIn,
  type ParseSearch,
  pipelineQuery,
  searching,
} from '../find/find-query.ts';
import { documentAt, type LiveDocuments } from '../sending/documents.ts';
import type { LiveChannel } from '../sending/handle-channel.ts';
import type { LiveActivity, LiveRegistry } from '../sending/observed-call.ts';
import type { HandleRequest } from '../sending/sender.ts';
import type { LiveSource } from './live-source.ts';

/**
 * Keeps the snapshot of a live query up to date with updates from the engine. After a failover it
 * registers with the new engine under a new number, so late messages of the old engine match no
 * query. docs/decisions/011-live-queries.md has the reasons.
 */
export class LiveFeed {
  readonly #source: LiveSource;
  readonly #channel: LiveChannel;
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
    channel: LiveChannel,
    publish: (snapshot: LiveSnapshot<unknown>) => void,
  ) {
    this.#source = source;
    this.#channel = channel;
    this.#publish = publish;
    const { search, pipeline, asked } = source;
    if ('key' in source) checkKeyed(source);
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

/** What a source of one value has besides are options of `liveDocument`. */
function checkKeyed({ channel, settings, key, throttle, ...options }: LiveSource): void {
  includeIn(options, settings.relations !== undefined);
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

/** An item of the engine's list for this query. */
interface Slot {
  readonly key: string;
  /** Whether it passes the functions of the query. */
  readonly passes: boolean;
  /** The same object while its value is the same. */
  value: unknown;
  /** The version that readers in the engine's thread share. */
  readonly record: StoredRecord | undefined;
}

type SlotReader = (part: ListPart, index: number) => Slot;

/** The list of a live query: applies the differences that the engine sends. */
class LiveList {
  readonly #find: FindQuery | undefined;
  readonly #count: boolean | undefined;
  readonly #slotOf: SlotReader;
  #slots: readonly Slot[] = [];
  /** Whether the next difference starts from an empty list and replaces this one. */
  #isReset = false;
  /** The difference so far: it may come in parts. */
  #removed: readonly number[] = [];
  #indexes: number[] = [];
  #inserted: Slot[] = [];

  constructor(
    { settings, count }: LiveSource,
    find: FindQuery | undefined,
    shared: LiveDocuments | undefined,
  ) {
    this.#find = find;
    this.#count = count;
    this.#slotOf = slotReader(settings, find, shared);
  }

  /** The next difference starts from an empty list. */
  restart(): void {
    this.#isReset = true;
    this.#indexes = [];
    this.#inserted = [];
  }

  /** Adds a part of a difference. @returns whether it was the last. */
  take(part: ListPart): boolean {
    if (this.#indexes.length === 0) this.#removed = part.removed;
    for (const [index, target] of part.indexes.entries()) {
      this.#indexes.push(target);
      this.#inserted.push(this.#slotOf(part, index));
    }
    if (part.more) return false;
    if (this.#isReset) this.#removed = [...this.#slots.keys()];
    this.#isReset = false;
    this.#apply();
    this.#indexes = [];
    this.#inserted = [];
    return true;
  }

  data(): unknown {
    const find = this.#find;
    if (!find) return this.#slots[0]?.value;
    const shown = find.test ? this.#slots.filter(({ passes }) => passes) : this.#slots;
    if (this.#count) return shown.length;
    return Object.freeze(shown.slice(find.skip, find.skip + find.limit).map(({ value }) => value));
  }

  #apply(): void {
    const before = this.#slots;
    const removed = new Set(this.#removed);
    const byKey = new Map<string, unknown>();
    for (const index of removed) {
      const { key, value } = before[index] as Slot;
      byKey.set(key, value);
    }
    const kept = before.filter((_, index) => !removed.has(index));
    const after: Slot[] = [];
    let next = 0;
    for (const [index, slot] of this.#inserted.entries()) {
      while (after.length < (this.#indexes[index] as number)) after.push(kept[next++] as Slot);
      const known = byKey.get(slot.key);
      if (known !== undefined && sameValue(known, slot.value)) {
        // So that the readers of the version keep the object too.
        const { record } = slot;
        if (record && record.shared === slot.value) record.shared = known as object;
        slot.value = known;
      }
      // Frozen: a document that a reader changed in place would count as unchanged.
      else if (!Object.isFrozen(slot.value)) deepFreeze(slot.value);
      after.push(slot);
    }
    while (next < kept.length) after.push(kept[next++] as Slot);
    this.#slots = after;
  }
}

/** Decodes items, and applies the functions and `select` of the query. */
function slotReader(
  settings: CollectionSettings,
  find: FindQuery | undefined,
  shared: LiveDocuments | undefined,
): SlotReader {
  const build = documentBuilder(settings);
  const project = find?.select && compileSelect(find.select);
  // A value at a key has no managed fields; a document that the engine projected has its selected
  // ones.
  const whole =
    settings.type === 'KEY_VALUE_BASED' ||
    find?.selection.select !== undefined ||
    find?.pipeline !== undefined;
  return (part, index) => {
    const key = part.keys[index] as string;
    const record = shared && part.records?.[index];
    const fields = () => decode(part.bodies[index] as Body) as object;
    if (whole) {
      const value = shared?.ofWhole?.(part, index) ?? fields();
      return { key, passes: true, value, record };
    }
    const document = shared?.ofPart(part, index) ?? documentAt(build, part, index, fields());
    const passes = find?.test?.(document) ?? true;
    const value = passes && project ? project(document) : document;
    return { key, passes, value: passes ? value : undefined, record };
  };
}

/** Keeps how often a live query emitted, while it runs. */
class LiveRecord implements LiveActivity {
  readonly #source: LiveSource;
  readonly #registry: LiveRegistry | undefined;
  #began = 0;
  since = new Date();
  emissions = 0;
  last_emission: Date | undefined;
  first_ms: number | undefined;
  #snapshot: LiveSnapshot<unknown> | undefined;

  constructor(source: LiveSource, registry: LiveRegistry | undefined) {
    this.#source = source;
    this.#registry = registry;
  }

  get collection(): string {
    return this.#source.settings.name;
  }

  get search(): LiveActivity['search'] {
    return this.#source.search;
  }

  get call(): LiveActivity['call'] {
    const { search, pipeline, asked, include } = this.#source;
    if (asked) return { method: 'liveSearch', args: asked };
    if (!search) return undefined;
    const { archived, collation } = search.given;
    if (pipeline !== undefined)
      return { method: 'liveAggregate', args: [pipeline, { archived, collation }] };
    const given = include === undefined ? search.given : { ...search.given, include };
    return { method: 'live', args: [search.params, given] };
  }

  get key(): LiveActivity['key'] {
    return this.#source.key;
  }

  get count(): boolean {
    return this.#source.count === true;
  }

  get status(): LiveActivity['status'] {
    return this.#snapshot?.status ?? 'pending';
  }

  get documents(): number | undefined {
    const data = this.#snapshot?.data;
    if (typeof data === 'number' && this.count) return data;
    return Array.isArray(data) ? data.length : undefined;
  }

  get error(): Error | undefined {
    return this.#snapshot?.error;
  }

  /** The live query has got its first reader. */
  begin(snapshot: LiveSnapshot<unknown>): void {
    this.#registry?.lives.add(this);
    this.#began = performance.now();
    this.since = new Date();
    this.#snapshot = snapshot;
  }

  /** The last reader has left. */
  end(): void {
    this.#registry?.lives.delete(this);
  }

  note(snapshot: LiveSnapshot<unknown>): void {
    this.#snapshot = snapshot;
    this.emissions++;
    this.last_emission = new Date();
    if (this.first_ms !== undefined || snapshot.status !== 'ready') return;
    this.first_ms = performance.now() - this.#began;
    const { call } = this;
    if (!call) return;
    this.#registry?.report({
      collection: this.collection,
      ...call,
      at: this.since,
      duration_ms: this.first_ms,
      result: snapshot.data,
    });
  }
}
