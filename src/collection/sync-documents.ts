import type { DocumentExchanges } from './calls/document-exchanges.ts';
import { runNow, type SyncPort } from './calls/run-now.ts';
import type {
  FindOptions,
  Found,
  MatchOptions,
  NewDocument,
  Params,
  SelectOption,
  Stamp,
  Stored,
} from './document-types.ts';

/** The methods of {@link DocumentCollection} without promises. */
export class SyncDocuments<T extends object, S extends Stamp = never> {
  readonly #exchanges: DocumentExchanges<T, S>;
  readonly #port: SyncPort;

  constructor(exchanges: DocumentExchanges<T, S>, port: SyncPort) {
    this.#exchanges = exchanges;
    this.#port = port;
  }

  insert(document: NewDocument<T>): Stored<T, S> {
    return runNow(this.#port, this.#exchanges.insert(document));
  }

  insertMany(documents: readonly NewDocument<T>[]): Stored<T, S>[] {
    return runNow(this.#port, this.#exchanges.insertMany(documents));
  }

  upsert(document: NewDocument<T>): Stored<T, S> {
    return runNow(this.#port, this.#exchanges.upsert(document));
  }

  update(id: string, document: NewDocument<T>): Stored<T, S> | undefined {
    return runNow(this.#port, this.#exchanges.update(id, document));
  }

  patch(
    id: string,
    changes: Partial<NewDocument<T>> | Record<string, unknown>,
  ): Stored<T, S> | undefined {
    return runNow(this.#port, this.#exchanges.patch(id, changes));
  }

  archive(id: string): boolean {
    return runNow(this.#port, this.#exchanges.change('archive', id));
  }

  unarchive(id: string): boolean {
    return runNow(this.#port, this.#exchanges.change('unarchive', id));
  }

  delete(id: string): boolean {
    return runNow(this.#port, this.#exchanges.change('delete', id));
  }

  deleteMany(params: Params<T, S>, options?: MatchOptions<T, S>): number {
    return runNow(this.#port, this.#exchanges.deleteMany(params, options));
  }

  get(id: string): Stored<T, S> | undefined {
    return runNow(this.#port, this.#exchanges.get(id));
  }

  find<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Found<T, S, L> | undefined {
    return runNow(this.#port, this.#exchanges.find<Found<T, S, L>>(params, options));
  }

  filter<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Found<T, S, L>[] {
    return runNow(this.#port, this.#exchanges.filter<Found<T, S, L>>(params, options));
  }

  has(params: Params<T, S>, options?: MatchOptions<T, S>): boolean {
    return runNow(this.#port, this.#exchanges.has(params, options));
  }

  count(params?: Params<T, S>, options?: FindOptions<T, S, SelectOption<T, S>>): number {
    return runNow(this.#port, this.#exchanges.count(params, options));
  }
}
