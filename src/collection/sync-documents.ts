import type { DocumentExchanges } from './document-exchanges.ts';
import type { FindOptions, NewDocument, Params, Stored } from './document-types.ts';
import type { Port } from './port.ts';
import { runNow } from './run-now.ts';

/** The methods of {@link DocumentCollection} without promises. */
export class SyncDocuments<T extends object> {
  readonly #exchanges: DocumentExchanges<T>;
  readonly #port: Port;

  constructor(exchanges: DocumentExchanges<T>, port: Port) {
    this.#exchanges = exchanges;
    this.#port = port;
  }

  insert(document: NewDocument<T>): Stored<T> {
    return runNow(this.#port, this.#exchanges.insert(document));
  }

  insertMany(documents: readonly NewDocument<T>[]): Stored<T>[] {
    return runNow(this.#port, this.#exchanges.insertMany(documents));
  }

  upsert(document: NewDocument<T>): Stored<T> {
    return runNow(this.#port, this.#exchanges.upsert(document));
  }

  update(id: string, document: NewDocument<T>): Stored<T> | undefined {
    return runNow(this.#port, this.#exchanges.update(id, document));
  }

  patch(
    id: string,
    changes: Partial<NewDocument<T>> | Record<string, unknown>,
  ): Stored<T> | undefined {
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

  deleteMany(params: Params<T>, options?: FindOptions<T>): number {
    return runNow(this.#port, this.#exchanges.deleteMany(params, options));
  }

  get(id: string): Stored<T> | undefined {
    return runNow(this.#port, this.#exchanges.get(id));
  }

  find(params: Params<T>, options?: FindOptions<T>): Stored<T> | undefined {
    return runNow(this.#port, this.#exchanges.find(params, options));
  }

  filter(params: Params<T>, options?: FindOptions<T>): Stored<T>[] {
    return runNow(this.#port, this.#exchanges.filter(params, options));
  }

  has(params: Params<T>, options?: FindOptions<T>): boolean {
    return runNow(this.#port, this.#exchanges.has(params, options));
  }

  count(params?: Params<T>, options?: FindOptions<T>): number {
    return runNow(this.#port, this.#exchanges.count(params, options));
  }
}
