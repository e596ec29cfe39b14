import { announce } from './announce.ts';
import type { StoredCity } from './city.ts';
import type { CityStore } from './city-store.ts';
import { confirm } from './confirm.ts';
import { formatCities, formatSpan } from './format.ts';
import { part } from './part.ts';
import type { Query } from './query.ts';
import type { CityChanges } from './table/city-row.ts';
import { CityTable } from './table/city-table.ts';

/** The cities that were found, and what is done to them. */
export class Results {
  readonly #summary = part(document, 'summary', HTMLElement);
  readonly #deleteAll = part(document, 'delete-all', HTMLButtonElement);
  readonly #store: CityStore;
  readonly #changed: () => void;
  readonly #table: CityTable;
  #query: Query = { params: {}, archived: false };
  /** Whether cities that are imported join those that are shown. */
  #following = false;

  /** @param changed Called when there are more or fewer documents. */
  constructor(store: CityStore, changed: () => void) {
    this.#store = store;
    this.#changed = changed;
    this.#table = new CityTable({
      change: (city, changes) => this.#try(() => this.#change(city, changes)),
      archive: (city) => this.#try(() => this.#archive(city)),
      delete: (city) => this.#try(() => this.#delete(city)),
    });
    this.#deleteAll.addEventListener('click', () => this.#try(() => this.#deleteMatches()));
  }

  async find(query: Query): Promise<void> {
    const began = performance.now();
    const found = await this.#store.cities.filter(query.params, { archived: query.archived });
    const span = formatSpan(performance.now() - began);
    this.#query = query;
    this.#following = false;
    this.#table.show(found, 'No city matches.');
    this.#summarize(`found in ${span}`);
    announce(`${formatCities(found.length)} found in ${span}.`);
  }

  /** Shows what there is before anything was looked for. */
  clear(invitation: string): void {
    this.#query = { params: {}, archived: false };
    this.#following = false;
    this.#table.show([], invitation);
    this.#summarize();
  }

  /** Shows what is imported from now on, until something is looked for. */
  follow(): void {
    this.clear('');
    this.#following = true;
  }

  append(cities: readonly StoredCity[]): void {
    if (!this.#following) return;
    this.#table.append(cities);
    this.#summarize();
  }

  async #change(city: StoredCity, changes: CityChanges): Promise<void> {
    const changed = await this.#store.cities.patch(city._id, changes);
    if (changed) this.#table.replace(changed);
    announce(`${changes.name} is changed.`);
  }

  async #archive(city: StoredCity): Promise<void> {
    const { cities } = this.#store;
    if (city._archived) await cities.unarchive(city._id);
    else await cities.archive(city._id);
    const changed = await cities.get(city._id);
    if (changed && this.#query.archived === true) this.#table.replace(changed);
    else this.#table.remove(city._id);
    this.#summarize();
    announce(`${city.name} is ${city._archived ? 'out of' : 'in'} the archive.`);
  }

  async #delete(city: StoredCity): Promise<void> {
    const sure = await confirm({
      title: `Delete ${city.name}?`,
      text: 'The document is removed for good. Archiving keeps it out of sight instead.',
      action: 'Delete',
    });
    if (!sure) return;
    await this.#store.cities.delete(city._id);
    this.#table.remove(city._id);
    this.#summarize();
    this.#changed();
    announce(`${city.name} is deleted.`);
  }

  async #deleteMatches(): Promise<void> {
    const { params, archived } = this.#query;
    const count = formatCities(this.#table.count);
    const sure = await confirm({
      title: `Delete ${count}?`,
      text: 'Every document that the last query found is removed for good.',
      action: `Delete ${count}`,
    });
    if (!sure) return;
    const began = performance.now();
    const deleted = await this.#store.cities.deleteMany(params, { archived });
    const span = formatSpan(performance.now() - began);
    this.#table.show([], 'No city matches any more.');
    this.#summarize(`${formatCities(deleted)} deleted in ${span}`);
    this.#changed();
    announce(`${formatCities(deleted)} deleted in ${span}.`);
  }

  #summarize(note = ''): void {
    const { count } = this.#table;
    this.#summary.replaceChildren(formatCities(count));
    if (note) {
      const quiet = document.createElement('span');
      quiet.className = 'quiet';
      quiet.textContent = note;
      this.#summary.append(' ', quiet);
    }
    this.#deleteAll.disabled = count === 0;
  }

  async #try(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const problem = document.createElement('span');
      problem.className = 'problem';
      problem.setAttribute('role', 'alert');
      problem.textContent = message;
      this.#summary.replaceChildren(problem);
    }
  }
}
