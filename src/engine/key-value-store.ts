import { type Coroutine, outcome, type Result } from '../async/coroutine.ts';
import { Pace } from '../async/pace.ts';
import { type Body, peek } from '../codec/body.ts';
import { decode, encode } from '../codec/capture.ts';
import { nameCollection } from '../errors/errors.ts';
import type { Key, KeyValueChange, ValueReply } from '../protocol/key-value-protocol.ts';
import type { ReplyTo, Request } from '../protocol/requests.ts';
import { compileItemCriteria } from '../query/criteria/item-criteria.ts';
import { type KeyPath, parseKey } from '../query/path/key-path.ts';
import {
  deleteAt,
  getAt,
  hasAt,
  mismatch,
  setAt,
  type ValuePath,
} from '../query/path/value-path.ts';
import { StoredRecord } from '../storage/segments/stored-record.ts';
import type { OperationContext } from './collection-context.ts';
import type { NewVersion } from './documents/new-rows.ts';
import { ItemResult, type MaintainedResult } from './live/live-result.ts';
import type { ReadQuery } from './records/read-set.ts';
import { type Records, versionNumber } from './records/record-store.ts';
import { Scan } from './records/scan.ts';

const ALL = { wanted: () => true, sorted: (record: StoredRecord) => record };
const ALL_VALUES: ReadQuery = { compiled: ALL, counts: false };
const ALL_KEYS: ReadQuery = { compiled: ALL, counts: true };

/**
 * Keys and values: the first segment of a key names a record, the rest is a path inside its value.
 * Every change reads, changes and stores the value within one turn of the serial queue.
 */
export class KeyValueStore {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  execute(request: Request): Result<unknown> {
    switch (request.op) {
      case 'kvSet':
        return this.#set(parseKey(request.key), request.body);
      case 'kvGet':
        return this.#get(request);
      case 'kvGetVersion':
        return this.#getVersion(request.key);
      case 'kvDelete':
        return this.#delete(parseKey(request.key));
      case 'kvPush':
        return this.#push(parseKey(request.key), request.body);
      case 'kvAdd':
        return this.#add(parseKey(request.key), request.amount);
      case 'kvMatch':
        return this.#match(request);
      case 'kvRemove':
        return this.#remove(parseKey(request.key), request.criteria);
      case 'kvReplace':
        return this.#replace(request);
      case 'kvPreview':
        return this.#preview(request.change);
      case 'kvKeys':
        this.#context.reads?.addQuery(ALL_KEYS);
        return [...this.#context.records.keys()];
      case 'kvEntries':
        this.#context.reads?.addQuery(ALL_VALUES);
        return this.#entries();
      case 'count':
        this.#context.reads?.addQuery(ALL_KEYS);
        return this.#context.records.size;
      default:
        throw new TypeError(`"${request.op}" is no operation of a key-value collection.`);
    }
  }

  *#set(key: KeyPath, body: Body): Coroutine<undefined> {
    const [name, ...path] = key;
    if (path.length === 0) this.#put(name, body);
    else yield* this.#change(key, () => decode(body));
    return undefined;
  }

  *#get({ key, array = false }: Request<'kvGet'>): Coroutine<ValueReply | undefined> {
    const [name, ...path] = parseKey(key);
    const record = this.#context.records.get(name);
    if (!record) return undefined;
    const version = versionNumber(record);
    const body = yield* this.#context.records.bodies.of(record);
    if (path.length === 0 && !array) return { body, version };
    const root = peek(body);
    if (!hasAt(root, path)) return undefined;
    const value = getAt(root, path);
    if (array && value === undefined) return undefined;
    if (array && !Array.isArray(value)) throw mismatch(placeOf([name, ...path]), value, 'an array');
    return { body: encode(value, 'value'), version };
  }

  *#getVersion(key: Key): Coroutine<ReplyTo<'kvGetVersion'>> {
    const version = versionNumber(this.#context.records.get(parseKey(key)[0]));
    const found = yield* this.#get({ op: 'kvGet', handle: 0, key });
    return { body: found?.body, version };
  }

  *#delete([name, ...path]: KeyPath): Coroutine<boolean> {
    const { records, versions } = this.#context;
    const record = records.get(name);
    if (!record) return false;
    if (path.length === 0) {
      versions.delete(record);
      return true;
    }
    const value = decode(yield* records.bodies.of(record));
    if (!deleteAt(value, path)) return false;
    this.#put(name, encode(value, 'value'));
    return true;
  }

  *#push(key: KeyPath, item: Body): Coroutine<Body> {
    const array = yield* this.#change(key, (before = [], place) => {
      if (!Array.isArray(before)) throw mismatch(place, before, 'an array');
      before.push(decode(item));
      return before;
    });
    return encode(array, 'value');
  }

  *#add(key: KeyPath, amount: number): Coroutine<number> {
    const sum = yield* this.#change(key, (before = 0, place) => {
      if (typeof before !== 'number') throw mismatch(place, before, 'a number');
      return before + amount;
    });
    return sum as number;
  }

  /** @throws {CriteriaError} naming the collection and the place. */
  #itemTest(criteria: Body): (item: unknown) => boolean {
    try {
      return compileItemCriteria(peek(criteria));
    } catch (error) {
      throw nameCollection(error, this.#context.settings.name);
    }
  }

  *#match({ key, criteria, first }: Request<'kvMatch'>): Coroutine<Body> {
    const matches = this.#itemTest(criteria);
    const array = yield* this.#arrayAt(parseKey(key));
    if (!first) return encode(array.filter(matches), 'value');
    const index = array.findIndex(matches);
    return encode(index < 0 ? [] : [array[index]], 'value');
  }

  *#remove(key: KeyPath, criteria: Body): Coroutine<Body> {
    const matches = this.#itemTest(criteria);
    const before = yield* this.#arrayAt(key);
    const after = before.filter((item) => !matches(item));
    if (after.length < before.length) yield* this.#change(key, () => after);
    return encode(after, 'value');
  }

  *#replace({ key, body, version }: Request<'kvReplace'>): Coroutine<boolean> {
    const path = parseKey(key);
    const record = this.#context.records.get(path[0]);
    if (versionNumber(record) !== version) return false;
    yield* this.#set(path, body);
    return true;
  }

  /** Executes a change on a store that keeps it for itself. */
  *#preview(change: KeyValueChange): Coroutine<ReplyTo<'kvPreview'>> {
    const version = versionNumber(this.#context.records.get(parseKey(change.key)[0]));
    const made: StoredRecord[] = [];
    const versions = { put: ({ record }: NewVersion) => made.push(record) } as object;
    const work = new KeyValueStore({ ...this.#context, versions } as OperationContext).execute({
      ...change,
      handle: 0,
    });
    const reply = yield* outcome(work);
    return { reply, body: made[0]?.body, version };
  }

  *#entries(): Coroutine<ReplyTo<'kvEntries'>> {
    const { records, clock, aborts } = this.#context;
    const scan = new Scan(records, new Pace(clock, aborts));
    try {
      const all = yield* scan.next(() => true);
      all.sort((a, b) => a.record.rank - b.record.rank);
      return { keys: all.map(({ record }) => record.key), bodies: all.map(({ body }) => body) };
    } finally {
      scan.end();
    }
  }

  *#arrayAt(key: KeyPath): Coroutine<unknown[]> {
    const [name, ...path] = key;
    const record = this.#context.records.get(name);
    const value = record && getAt(peek(yield* this.#context.records.bodies.of(record)), path);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw mismatch(placeOf(key), value, 'an array');
    return value;
  }

  /** Replaces the value at a key by `next(value)`; if that throws, nothing changes. */
  *#change(key: KeyPath, next: (before: unknown, place: string) => unknown): Coroutine<unknown> {
    const [name, ...path] = key;
    const { records } = this.#context;
    const record = records.get(name);
    const root = record && decode(yield* records.bodies.of(record));
    const place = placeOf(key);
    const value = next(getAt(root, path), place);
    this.#put(name, encode(setAt(root, path, value, place), place));
    return value;
  }

  #put(name: string, body: Body): void {
    const { records, versions } = this.#context;
    const before = records.get(name);
    const rank = before?.rank ?? records.takeRank();
    versions.put({ record: new StoredRecord(name, rank, 0, undefined, body), before, kind: 'set' });
  }
}

function placeOf(key: KeyPath): string {
  return key
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index ? `.${step}` : step))
    .join('');
}

/** The value at a path inside a record. */
class ValueResult extends ItemResult {
  readonly #path: ValuePath;

  constructor(records: Records, [name, ...path]: KeyPath) {
    super(records, name);
    this.#path = path;
  }

  protected override shown(whole: Body): Body | undefined {
    if (this.#path.length === 0) return whole;
    const root = peek(whole);
    return hasAt(root, this.#path) ? encode(getAt(root, this.#path), 'value') : undefined;
  }
}

/** The live value at a key. @throws {KeyError} `key_invalid` */
export function liveValue(records: Records, key: Key): MaintainedResult {
  return new ValueResult(records, parseKey(key));
}
