import type { InspectedDatabase } from '../inspect/inspected-database.ts';
import { button, h } from '../views/dom.ts';

export const PAGE_ROWS = 50;

export class PageButtons {
  readonly element: HTMLElement;
  readonly #first: HTMLButtonElement;
  readonly #before: HTMLButtonElement;
  readonly #next: HTMLButtonElement;
  readonly #last: HTMLButtonElement;
  #total = 0;
  /** Of the page that is shown, from 0. */
  page = 0;

  constructor(show: () => void) {
    const move = (to: () => number) => () => {
      this.page = to();
      show();
    };
    this.#first = button(
      '⇤',
      move(() => 0),
      { 'aria-label': 'First page' },
    );
    this.#before = button(
      '←',
      move(() => this.page - 1),
      { 'aria-label': 'Previous page' },
    );
    this.#next = button(
      '→',
      move(() => this.page + 1),
      { 'aria-label': 'Next page' },
    );
    this.#last = button(
      '⇥',
      move(() => this.#lastPage),
      { 'aria-label': 'Last page' },
    );
    const all = [this.#first, this.#before, this.#next, this.#last];
    this.element = h('div', { class: 'pages', role: 'group', 'aria-label': 'Pages' }, ...all);
  }

  get first(): number {
    return this.page * PAGE_ROWS;
  }

  get #lastPage(): number {
    return Math.max(0, Math.ceil(this.#total / PAGE_ROWS) - 1);
  }

  /** Takes in the number of results. @returns whether the page still exists. */
  limitTo(total: number): boolean {
    this.#total = total;
    const exists = this.page <= this.#lastPage;
    this.page = Math.min(this.page, this.#lastPage);
    this.#first.disabled = this.#before.disabled = this.page === 0;
    this.#last.disabled = this.#next.disabled = this.page === this.#lastPage;
    return exists;
  }
}

const WAIT_MS = 250;

/**
 * Calls back after changes of a collection, at most four times a second. @returns a function that
 * ends it.
 */
export function onChanges(
  { activity }: InspectedDatabase,
  collection: string,
  update: () => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = activity.on((entry) => {
    if (entry.collection !== collection || !['change', 'restore'].includes(entry.kind)) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      update();
    }, WAIT_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
