import type { StoredCity } from '../city.ts';
import { part } from '../part.ts';
import { type CityAction, type CityChanges, makeEditor, makeRow } from './city-row.ts';
import { RowWindow } from './row-window.ts';
import { actionOfKey, rowAfterKey } from './table-keys.ts';

/** The same as in table.css, where a narrow page gets two lines a city. */
const narrow = matchMedia('(max-width: 40rem)');
const rowHeight = () => (narrow.matches ? 62 : 44);

/** What the table asks of the page. */
export interface TableActions {
  readonly change: (city: StoredCity, changes: CityChanges) => Promise<void>;
  readonly archive: (city: StoredCity) => Promise<void>;
  readonly delete: (city: StoredCity) => Promise<void>;
}

/** A grid of any number of cities, of which only the rows in sight are in the page. */
export class CityTable {
  readonly #grid = part(document, 'table', HTMLElement);
  readonly #body = part(this.#grid, 'rows', HTMLElement);
  readonly #empty = part(this.#grid, 'empty', HTMLElement);
  readonly #actions: TableActions;
  readonly #window: RowWindow;
  /** Rows in the page, by index. */
  readonly #rows = new Map<number, HTMLElement>();
  #cities: StoredCity[] = [];
  /** The row that keys act on. It stays in the page, as what the grid's focus points at. */
  #active = 0;
  #editing: string | undefined;

  constructor(actions: TableActions) {
    this.#actions = actions;
    const head = part(this.#grid, 'head', HTMLElement);
    this.#window = new RowWindow(this.#grid, head, rowHeight, () => this.#render());
    narrow.addEventListener('change', () => this.#resize());
    this.#grid.addEventListener('keydown', (event) => this.#onKey(event));
    this.#body.addEventListener('click', (event) => this.#onClick(event));
  }

  /** Shows these cities from the first on. */
  show(cities: readonly StoredCity[], ifNone: string): void {
    this.#cities = [...cities];
    this.#active = 0;
    this.#editing = undefined;
    this.#empty.textContent = ifNone;
    this.#window.scrollTo(0);
    this.#redraw();
  }

  /** Adds cities at the end. */
  append(cities: readonly StoredCity[]): void {
    for (const city of cities) this.#cities.push(city);
    this.#resize();
  }

  /** Shows a city as it is now. */
  replace(city: StoredCity): void {
    const index = this.#cities.findIndex(({ _id }) => _id === city._id);
    if (index < 0) return;
    this.#cities[index] = city;
    this.#redrawRow(index);
  }

  /** Shows a city no more. */
  remove(id: string): void {
    const index = this.#cities.findIndex(({ _id }) => _id === id);
    if (index < 0) return;
    this.#cities.splice(index, 1);
    this.#active = Math.max(0, Math.min(this.#active, this.#cities.length - 1));
    this.#redraw();
    this.#grid.focus(); // the button that had it is gone
  }

  /** How many it shows. */
  get count(): number {
    return this.#cities.length;
  }

  #resize(): void {
    const count = this.#cities.length;
    this.#body.style.height = `${count * rowHeight()}px`;
    this.#grid.setAttribute('aria-rowcount', String(count + 1));
    this.#empty.hidden = count > 0;
    this.#render();
  }

  #redraw(): void {
    this.#rows.clear();
    this.#body.replaceChildren();
    this.#resize();
  }

  #redrawRow(index: number): void {
    this.#rows.get(index)?.remove();
    this.#rows.delete(index);
    this.#render();
  }

  #render(): void {
    const { from, to } = this.#window.range(this.#cities.length);
    const stays = (index: number) => index === this.#active || (index >= from && index < to);
    for (const [index, row] of this.#rows) {
      if (stays(index)) continue;
      row.remove();
      this.#rows.delete(index);
    }
    for (let index = from; index < to; index++) this.#place(index);
    this.#place(this.#active);
    this.#markActive();
  }

  #place(index: number): void {
    const city = this.#cities[index];
    if (!city) return;
    const row = this.#rows.get(index) ?? this.#addRow(city, index);
    row.style.transform = `translateY(${index * rowHeight()}px)`;
  }

  #addRow(city: StoredCity, index: number): HTMLElement {
    const row =
      city._id === this.#editing
        ? makeEditor(city, (changes) => this.#finishEditing(city, changes))
        : makeRow(city);
    row.id = `row-${index}`;
    row.dataset.index = String(index);
    row.setAttribute('aria-rowindex', String(index + 2));
    this.#rows.set(index, row);
    this.#body.append(row);
    return row;
  }

  #markActive(): void {
    for (const [index, row] of this.#rows) {
      const isActive = index === this.#active;
      row.classList.toggle('active', isActive);
      // only its buttons are on the way of the Tab key
      for (const button of row.querySelectorAll<HTMLElement>('.icon')) {
        button.tabIndex = isActive ? 0 : -1;
      }
    }
    if (this.#cities.length === 0) this.#grid.removeAttribute('aria-activedescendant');
    else this.#grid.setAttribute('aria-activedescendant', `row-${this.#active}`);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.target !== this.#grid || event.ctrlKey || event.metaKey || event.altKey) return;
    const { page } = this.#window;
    const next = rowAfterKey(event.key, this.#active, this.#cities.length, page);
    const action = actionOfKey(event.key);
    if (next !== undefined) this.#activate(next);
    else if (action) this.#act(action, this.#active);
    else return;
    event.preventDefault();
  }

  #onClick({ target }: MouseEvent): void {
    if (!(target instanceof Element)) return;
    const row = target.closest<HTMLElement>('[data-index]');
    if (!row) return;
    const index = Number(row.dataset.index);
    this.#activate(index);
    const action = target.closest<HTMLElement>('[data-action]')?.dataset.action;
    if (action) this.#act(action as CityAction, index);
  }

  #activate(index: number): void {
    this.#active = index;
    this.#window.reveal(index);
    this.#render();
  }

  #act(action: CityAction, index: number): void {
    const city = this.#cities[index];
    if (!city) return;
    if (action === 'edit') this.#edit(city, index);
    else this.#actions[action](city);
  }

  #edit(city: StoredCity, index: number): void {
    const before = this.#cities.findIndex(({ _id }) => _id === this.#editing);
    this.#editing = city._id;
    if (before >= 0) this.#redrawRow(before);
    this.#redrawRow(index);
    this.#rows.get(index)?.querySelector('input')?.select();
  }

  #finishEditing(city: StoredCity, changes: CityChanges | undefined): void {
    this.#editing = undefined;
    this.#redrawRow(this.#cities.indexOf(city));
    this.#grid.focus();
    if (changes) this.#actions.change(city, changes);
  }
}
