import { StoredRecord } from '../storage/stored-record.ts';
import type { StoreContext } from './context.ts';
import { idTaken } from './ids.ts';
import { stamped } from './managed.ts';
import type { ManagedColumns, Request } from './protocol.ts';

/** The documents of an `insertMany` that have arrived. */
interface Staged {
  readonly records: Map<string, StoredRecord>;
  /** One instant for all of them. */
  readonly now: number;
  /** Why it cannot succeed any more; parts may still be on their way. */
  failure: { readonly error: unknown } | undefined;
}

/**
 * `insertMany` arrives in parts, so that encoding a large one never blocks the page. Parts are staged, and
 * enter the collection together with the last: all or none.
 */
export class InsertParts {
  readonly #context: StoreContext;
  readonly #staged = new Map<number, Staged>();

  constructor(context: StoreContext) {
    this.#context = context;
  }

  add({ call, ids, bodies, last }: Request<'insertPart'>): ManagedColumns {
    const staged = this.#staged.get(call) ?? this.#begin(call);
    if (last) this.#staged.delete(call);
    if (staged.failure) throw staged.failure.error;
    try {
      const stamps = stamped(undefined, 'created', this.#context.settings, staged.now);
      const keys = bodies.map((body, index) => {
        const key = this.#keyFor(ids?.[index], staged);
        staged.records.set(key, new StoredRecord(key, 0, 0, stamps, body));
        return key;
      });
      if (last) this.#commit(staged);
      return { keys, flags: new Uint8Array(keys.length), stamps: stamps && keys.map(() => stamps) };
    } catch (error) {
      staged.failure = { error };
      staged.records.clear();
      throw error;
    }
  }

  abandon(call: number): undefined {
    this.#staged.delete(call);
    return undefined;
  }

  #begin(call: number): Staged {
    const staged = { records: new Map(), now: this.#context.clock.now(), failure: undefined };
    this.#staged.set(call, staged);
    return staged;
  }

  #keyFor(id: string | undefined, { records }: Staged): string {
    const { records: stored, settings, newId } = this.#context;
    if (id === undefined) {
      for (;;) {
        const key = newId(settings.id_length);
        if (!stored.get(key) && !records.has(key)) return key;
      }
    }
    if (stored.get(id) || records.has(id)) throw idTaken(settings.name, id);
    return id;
  }

  #commit({ records: staged }: Staged): void {
    const { records, settings, changed } = this.#context;
    // Another door may have inserted one of the ids since its part arrived.
    for (const key of staged.keys()) if (records.get(key)) throw idTaken(settings.name, key);
    for (const record of staged.values()) {
      record.order = records.takeOrder();
      records.put(record);
      changed(record.key, 'insert');
    }
  }
}
