import type { Connection, DoorStatus } from 'cairndb';
import { formatAgo, formatClock, formatNumber, formatSpan } from '../format.ts';
import { part } from '../part.ts';

const ENGINES: Record<NonNullable<DoorStatus['started']>, string> = {
  file: 'Web Worker, from its file',
  inline: 'Web Worker, inline',
  given: 'Web Worker, given',
  thread: 'This thread',
};

const STORAGES: Record<string, string> = {
  indexeddb: 'IndexedDB',
  memory: 'Memory only',
};

const still = matchMedia('(prefers-reduced-motion: reduce)');

/** Shows live what the database says of itself. */
export class StatusPanel {
  readonly #root = part(document, 'status', HTMLElement);
  readonly #saved = part(this.#root, 'saved', HTMLElement);
  readonly #cairn = part(document, 'cairn', SVGElement);
  readonly #db: Connection;

  constructor(db: Connection) {
    this.#db = db;
    db.on('status', () => this.#render());
    db.on('save', () => this.#pulse());
    setInterval(() => this.#render(), 500); // "3 s ago" grows older by itself
    this.#render();
  }

  showCount(documents: number): void {
    this.#write('documents', formatNumber(documents));
  }

  showOpened(ms: number): void {
    this.#write('opened', formatSpan(ms));
  }

  #render(): void {
    const { started, storage, last_save, last_error } = this.#db.status;
    const { state, text } = this.#describeSaved();
    this.#saved.dataset.state = state;
    this.#cairn.dataset.state = state;
    this.#write('saved-text', text);
    this.#write('engine', started ? ENGINES[started] : '–');
    this.#write('storage', storage ? (STORAGES[storage] ?? storage) : '–');
    this.#write(
      'last-save',
      last_save ? `${formatClock(last_save)}, ${formatAgo(last_save)}` : '–',
    );
    this.#write('last-error', last_error?.message ?? 'None');
  }

  #describeSaved(): { state: 'idle' | 'unsaved' | 'saved' | 'failed'; text: string } {
    const { state, unsaved, unsaved_since } = this.#db.status;
    if (state === 'failed') return { state: 'failed', text: 'Not available' };
    if (state !== 'open') return { state: 'idle', text: 'Opening' };
    if (!unsaved || !unsaved_since) return { state: 'saved', text: 'Everything is saved' };
    const since = formatSpan(Date.now() - unsaved_since.getTime());
    return { state: 'unsaved', text: `${formatNumber(unsaved)} unsaved for ${since}` };
  }

  #pulse(): void {
    if (still.matches) return;
    const grow = { boxShadow: ['0 0 0 0 currentColor', '0 0 0 9px transparent'] };
    this.#saved.firstElementChild?.animate(grow, { duration: 600, easing: 'ease-out' });
  }

  #write(name: string, text: string): void {
    const target = part(this.#root, name, HTMLElement);
    if (target.textContent !== text) target.textContent = text;
  }
}
