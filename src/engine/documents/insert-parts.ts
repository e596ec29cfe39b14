import { insertLost } from '../../protocol/collection-errors.ts';
import { stamped, UPDATED } from '../../protocol/managed.ts';
import type { ReplyTo, Request } from '../../protocol/requests.ts';
import { hashKeys, repeatedKey } from '../../storage/segments/key-hashes.ts';
import { type Stamps, StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { isIndexRefusal } from './document-index.ts';
import { idTaken, unusedId } from './ids.ts';
import { type NewRows, type NewVersion, partOfNew } from './new-rows.ts';

/** Shorter generated ids may be taken; 16 characters are 95 random bits. */
const SHORT_ID = 16;

/** The staged documents of an `insertMany`. */
interface Staged extends NewRows {
  indexKeys: unknown[][];
  /** One instant for all of them. */
  readonly now: number;
  /** Their ids, if these are so short that a generated one may be taken. */
  readonly ids: Set<string> | undefined;
  /** Hashes of the ids of each part, if the caller chose some. */
  hashes: Uint32Array[] | undefined;
  /** The indexes of the records' keys, and their number: more may be added before the last part. */
  indexes: OperationContext['indexes'];
  width: number;
  /** The error of the call; more parts may follow. */
  failure: { readonly error: unknown } | undefined;
}

/**
 * `insertMany` arrives in parts, so that encoding a large one never blocks the page. Parts are
 * staged, and the last one adds all of them to the collection, or none. A client retries a part
 * without an answer. A part is missing if an earlier engine refused it or if the journal of an
 * ended page had no room for it.
 */
export class InsertParts {
  readonly #context: OperationContext;
  readonly #staged = new Map<number, Staged>();

  constructor(context: OperationContext) {
    this.#context = context;
  }

  add(request: Request<'insertPart'>): ReplyTo<'insertPart'> {
    const { call, from, ids, bodies, indexKeys, last, now, upsert = false } = request;
    const begun = this.#staged.get(call);
    // If the first part is retried, the client resends all of them.
    const staged = begun && !(begun.failure && from === 0) ? begun : this.#begin(call, now);
    if (staged.failure) {
      if (last) this.#staged.delete(call);
      throw staged.failure.error;
    }
    try {
      const { settings, versions } = this.#context;
      const { stamps } = staged;
      const columnsOf = (keys: string[]): ReplyTo<'insertPart'> => ({
        ...{ keys, flags: new Uint8Array(keys.length), now: staged.now },
        stamps: stamps && keys.map(() => stamps),
      });
      const known = staged.keys.slice(from, from + bodies.length);
      if (known.length > 0) {
        // The last part is retried after a unique index was given up for it.
        if (last && upsert) return this.#commitUpserts(request, staged);
        if (last) this.#commit(call, staged);
        return columnsOf(known);
      }
      if (from > staged.keys.length) throw insertLost(settings.name);
      if (ids && !upsert) staged.hashes ??= [hashKeys(staged.keys)];
      const keys = bodies.map((body, index) => {
        const key = ids?.[index] ?? this.#newId(staged);
        staged.ids?.add(key);
        staged.keys.push(key);
        staged.bodies.push(body);
        return key;
      });
      staged.hashes?.push(hashKeys(keys));
      // The versions of an `upsertMany` are made with the last part.
      if (!upsert) versions.prepareRows(staged, from, indexKeys);
      if (last && upsert) return this.#commitUpserts(request, staged);
      if (last) this.#commit(call, staged);
      return columnsOf(keys);
    } catch (error) {
      if (now !== undefined && isIndexRefusal(error)) throw error;
      if (last) this.#staged.delete(call);
      staged.failure = { error };
      staged.keys.length = staged.bodies.length = 0;
      staged.hashes = undefined;
      throw error;
    }
  }

  abandon(call: number): undefined {
    this.#staged.delete(call);
    return undefined;
  }

  #begin(call: number, now: number | undefined): Staged {
    const { clock, settings, indexes } = this.#context;
    const time = now ?? clock.now();
    const staged: Staged = {
      keys: [],
      stamps: stamped(undefined, 'created', settings, time),
      bodies: [],
      indexKeys: [],
      now: time,
      indexes,
      width: indexes.width,
      ids: settings.id_length < SHORT_ID ? new Set() : undefined,
      hashes: undefined,
      failure: undefined,
    };
    this.#staged.set(call, staged);
    return staged;
  }

  #newId({ ids }: Staged): string {
    const { records, settings, newId } = this.#context;
    const make = () => newId(settings.id_length);
    if (!ids) return make();
    return unusedId((key) => records.get(key) !== undefined || ids.has(key), make);
  }

  #commit(call: number, staged: Staged): void {
    const { records, indexes, settings, versions } = this.#context;
    const { keys, ids, hashes } = staged;
    if (indexes !== staged.indexes || indexes.width !== staged.width) {
      staged.indexKeys = [];
      versions.prepareRows(staged, 0);
    }
    const repeated = hashes && repeatedKey(keys, hashes);
    if (repeated !== undefined) throw idTaken(settings.name, repeated);
    // Only now: an earlier attempt of the same call may have inserted them.
    if (ids || hashes)
      for (const key of keys) if (!records.vacate(key)) throw idTaken(settings.name, key);
    versions.add(partOfNew(staged, () => records.takeRank()));
    this.#staged.delete(call);
  }

  /**
   * Inserts the new ones and replaces the others. Of two with one id the later replaces the
   * earlier.
   */
  #commitUpserts({ call, patch }: Request<'insertPart'>, staged: Staged): ReplyTo<'insertPart'> {
    const { records, settings } = this.#context;
    const versions = new Map<string, NewVersion>();
    const { keys, bodies, now, stamps: created } = staged;
    const flags = new Uint8Array(keys.length);
    const patches = patch && [patch];
    const stamps: (Stamps | undefined)[] = [];
    for (const [index, key] of keys.entries()) {
      const stored = records.get(key);
      if (!stored) records.vacate(key);
      const latest = versions.get(key)?.record ?? stored;
      flags[index] = latest ? latest.flags | UPDATED : 0;
      stamps[index] = latest ? stamped(latest.stamps, 'updated', settings, now) : created;
      const rank = latest ? latest.rank : records.takeRank();
      const record = new StoredRecord(key, rank, flags[index], stamps[index], bodies[index]);
      versions.set(key, { record, before: stored, kind: stored ? 'update' : 'insert', patches });
    }
    this.#context.versions.putAll([...versions.values()]);
    this.#staged.delete(call);
    const isStamped = stamps.some((one) => one !== undefined);
    return { keys, flags, stamps: isStamped ? stamps : undefined, now };
  }
}
