import type { LiveSnapshot } from '../../api/live-options.ts';
import { type Body, decode } from '../../codec/body.ts';
import { deepFreeze } from '../../codec/deep-freeze.ts';
import { sameValue } from '../../codec/same-value.ts';
import type { ListPart } from '../../protocol/live-protocol.ts';
import { documentBuilder } from '../../protocol/managed.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import { compileSelect } from '../../query/projection.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { FindQuery } from '../find/find-query.ts';
import { documentAt, type LiveDocuments } from '../sending/documents.ts';
import type { LiveActivity, LiveRegistry } from '../sending/observed-call.ts';
import type { LiveSource } from './live-source.ts';

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
export class LiveList {
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
export class LiveRecord implements LiveActivity {
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
