import { count as total } from 'virtual:cities';
import { announce } from '../announce.ts';
import type { StoredCity } from '../city.ts';
import type { CityStore } from '../city-store.ts';
import { confirm } from '../confirm.ts';
import { formatCities, formatNumber, formatSpan } from '../format.ts';
import { loadCities } from '../load-cities.ts';
import { LongTasks } from '../long-tasks.ts';
import { nextTask } from '../next-task.ts';
import { part } from '../part.ts';

/** What the panel tells the page. */
export interface ImportEvents {
  readonly began: () => void;
  /** A batch is in the collection, which now has so many documents. */
  readonly imported: (cities: readonly StoredCity[], documents: number) => void;
  readonly ended: () => Promise<unknown>;
  /** The collection is empty again. */
  readonly startedOver: () => Promise<unknown>;
}

/** Imports the cities, shows how that goes, and starts over. */
export class ImportPanel {
  readonly #root = part(document, 'import', HTMLElement);
  readonly #progress = part(this.#root, 'progress', HTMLProgressElement);
  readonly #import = part(this.#root, 'import-button', HTMLButtonElement);
  readonly #startOver = part(this.#root, 'start-over', HTMLButtonElement);
  readonly #store: CityStore;
  readonly #events: ImportEvents;

  constructor(store: CityStore, events: ImportEvents) {
    this.#store = store;
    this.#events = events;
    this.#progress.max = total;
    this.#import.addEventListener('click', () => this.#run());
    this.#startOver.addEventListener('click', () => this.#askToStartOver());
  }

  /** Offers what makes sense with so many documents in the collection. */
  offer(documents: number): void {
    this.#import.disabled = documents > 0;
    this.#startOver.disabled = documents === 0;
    this.#progress.value = Math.min(documents, total);
    this.#write('progress-text', `${formatNumber(documents)} of ${formatNumber(total)}`);
  }

  async #run(): Promise<void> {
    this.#import.disabled = true;
    this.#write('import-problem', '');
    this.#root.dataset.state = 'running';
    announce('The import has begun.');
    this.#events.began();
    const longTasks = new LongTasks();
    const began = performance.now();
    let documents = 0;
    try {
      for await (const batch of loadCities()) {
        await nextTask(); // parsing a batch and encoding it are two tasks
        const stored = await this.#store.cities.insertMany(batch);
        documents += stored.length;
        this.#events.imported(stored, documents);
        this.#showProgress(documents, performance.now() - began, longTasks.longest);
        await nextTask();
      }
      await this.#store.cities.save();
      const span = formatSpan(performance.now() - began);
      this.#write('until-saved', span);
      announce(`${formatCities(documents)} are imported and saved, in ${span}.`);
    } catch (error) {
      this.#write('import-problem', error instanceof Error ? error.message : String(error));
    }
    longTasks.stop();
    this.#root.dataset.state = 'idle';
    await this.#events.ended();
  }

  #showProgress(documents: number, ms: number, longest: number | undefined): void {
    this.#progress.value = documents;
    this.#write('progress-text', `${formatNumber(documents)} of ${formatNumber(total)}`);
    this.#write('rate', formatNumber(Math.round((documents / ms) * 1000)));
    this.#write('longest-task', describeLongest(longest));
  }

  async #askToStartOver(): Promise<void> {
    const sure = await confirm({
      title: 'Start over?',
      text: 'This drops the collection: every city goes, with all your edits.',
      action: 'Drop everything',
    });
    if (!sure) return;
    this.#startOver.disabled = true;
    try {
      await this.#store.startOver();
      for (const figure of ['rate', 'until-saved', 'longest-task', 'import-problem']) {
        this.#write(figure, figure === 'import-problem' ? '' : '–');
      }
      await this.#events.startedOver();
      announce('The collection is empty.');
    } catch (error) {
      this.#startOver.disabled = false;
      this.#write('import-problem', error instanceof Error ? error.message : String(error));
    }
  }

  #write(name: string, text: string): void {
    part(this.#root, name, HTMLElement).textContent = text;
  }
}

function describeLongest(longest: number | undefined): string {
  if (longest === undefined) return 'not measured here';
  return longest === 0 ? 'under 50 ms' : formatSpan(longest);
}
