import { signal } from '@preact/signals';
import type { DocumentCollection, FindOptions, LiveQuery, Stored } from 'cairndb';
import { isLeaving } from '../../../database/database.ts';
import { livePage } from '../recipes/search.ts';

const ROWS_A_PAGE = 200;
/** Rows queried beyond the visible ones. */
const ROWS_AHEAD = 100;
/** Pages kept for scrolling back. */
const MOST_PAGES = 4;

interface Page {
  readonly query: LiveQuery<readonly Stored[]>;
  readonly stop: () => void;
  rows: readonly Stored[] | undefined;
}

/** The rows of a result of any length. Only the visible pages are loaded, as live queries. */
export class Rows {
  /** Their number; `undefined` until known. */
  readonly count = signal<number | undefined>(undefined);
  /** Counts changes of rows. */
  readonly version = signal(0);
  readonly problem = signal('');
  /** Milliseconds until the first rows and the count arrived. */
  readonly answeredIn = signal<number | undefined>(undefined);
  readonly #collection: DocumentCollection;
  readonly #criteria: object;
  readonly #options: Pick<FindOptions, 'archived' | 'sort'>;
  readonly #pages = new Map<number, Page>();
  #stopCount: (() => void) | undefined;
  #began = 0;
  #isClosed = false;

  constructor(
    collection: DocumentCollection,
    criteria: object,
    options: Pick<FindOptions, 'archived' | 'sort'>,
  ) {
    this.#collection = collection;
    this.#criteria = criteria;
    this.#options = options;
  }

  /** Starts the queries. Returns the function that stops them; loaded rows stay. */
  open(): () => void {
    const { archived } = this.#options;
    this.#began = performance.now();
    const count = this.#collection.liveCount(this.#criteria, { archived, throttle: 100 });
    this.#stopCount = count.subscribe(({ data, error }) => {
      if (data !== undefined) this.count.value = data;
      this.#noteProblem(error);
      this.#noteAnswer();
    });
    this.look(0, 0);
    return () => {
      this.#stopCount?.();
      for (const page of this.#pages.values()) page.stop();
      this.#isClosed = true;
    };
  }

  /** The row at an index, `undefined` while it loads. */
  at(index: number): Stored | undefined {
    return this.#pages.get(Math.floor(index / ROWS_A_PAGE))?.rows?.[index % ROWS_A_PAGE];
  }

  /** Loads these rows and those around them. */
  look(first: number, last: number): void {
    if (this.#isClosed) return;
    const end = Math.max(0, (this.count.peek() ?? 0) - 1);
    const from = Math.floor(Math.max(0, first - ROWS_AHEAD) / ROWS_A_PAGE);
    const until = Math.floor(Math.min(end, last + ROWS_AHEAD) / ROWS_A_PAGE);
    for (let number = from; number <= until; number++) {
      const page = this.#pages.get(number) ?? this.#openPage(number);
      // The most recently used is at the end.
      this.#pages.delete(number);
      this.#pages.set(number, page);
    }
    for (const [number, page] of this.#pages) {
      if (this.#pages.size <= MOST_PAGES) break;
      page.stop();
      this.#pages.delete(number);
    }
  }

  #openPage(number: number): Page {
    const skip = number * ROWS_A_PAGE;
    const options = { ...this.#options, skip, limit: ROWS_A_PAGE };
    const query = livePage(this.#collection, this.#criteria, options);
    const stop = query.subscribe(({ data, error }) => {
      page.rows = data ?? page.rows;
      this.#noteProblem(error);
      this.version.value += 1;
      this.#noteAnswer();
    });
    const page: Page = { query, stop, rows: undefined };
    return page;
  }

  #noteProblem(error: Error | undefined): void {
    if (error && !isLeaving(this.#collection)) this.problem.value = error.message;
  }

  #noteAnswer(): void {
    if (this.answeredIn.value !== undefined || this.count.value === undefined) return;
    if (this.#pages.get(0)?.rows) this.answeredIn.value = performance.now() - this.#began;
  }
}
