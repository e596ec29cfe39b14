import type { Connection, DocumentCollection } from 'cairndb';
import type { City } from './city.ts';

/** The collection of cities, in memory in the worker and saved by it. */
export class CityStore {
  readonly #db: Connection;
  #cities: DocumentCollection<City>;

  constructor(db: Connection) {
    this.#db = db;
    this.#cities = this.#open();
  }

  get cities(): DocumentCollection<City> {
    return this.#cities;
  }

  /** How many there are, archived ones included. */
  count(): Promise<number> {
    return this.#cities.count({}, { archived: true });
  }

  /** Removes everything. A dropped collection is of no use any more, so a new one takes its place. */
  async startOver(): Promise<void> {
    await this.#cities.Drop();
    this.#cities = this.#open();
  }

  #open(): DocumentCollection<City> {
    return new this.#db.Collection<City>({
      name: 'cities',
      type: 'DOCUMENT_BASED',
      caching: true,
      activate_drop_method: true,
    });
  }
}
