import type { LiveActivity, LiveRegistry } from '../inspection/observed-call.ts';
import type { LiveSnapshot } from './live-snapshot.ts';
import type { LiveSource } from './live-source.ts';

/** Keeps how often a live query emitted, while it runs. */
export class LiveRecord implements LiveActivity {
  readonly #source: LiveSource;
  readonly #registry: LiveRegistry | undefined;
  #began = 0;
  since = new Date();
  emissions = 0;
  last_emission: Date | undefined;
  first_ms: number | undefined;
  #snapshot: LiveSnapshot<unknown> | undefined;

  constructor(source: LiveSource, registry: LiveRegistry | undefined) {
    this.#source = source;
    this.#registry = registry;
  }

  get collection(): string {
    return this.#source.settings.name;
  }

  get search(): LiveActivity['search'] {
    return this.#source.search;
  }

  get key(): LiveActivity['key'] {
    return this.#source.key;
  }

  get count(): boolean {
    return this.#source.count === true;
  }

  get status(): LiveActivity['status'] {
    return this.#snapshot?.status ?? 'pending';
  }

  get documents(): number | undefined {
    const data = this.#snapshot?.data;
    if (typeof data === 'number' && this.count) return data;
    return Array.isArray(data) ? data.length : undefined;
  }

  get error(): Error | undefined {
    return this.#snapshot?.error;
  }

  /** The live query has got its first reader. */
  begin(snapshot: LiveSnapshot<unknown>): void {
    this.#registry?.lives.add(this);
    this.#began = performance.now();
    this.since = new Date();
    this.#snapshot = snapshot;
  }

  /** The last reader has left. */
  end(): void {
    this.#registry?.lives.delete(this);
  }

  note(snapshot: LiveSnapshot<unknown>): void {
    this.#snapshot = snapshot;
    this.emissions++;
    this.last_emission = new Date();
    if (this.first_ms !== undefined || snapshot.status !== 'ready') return;
    this.first_ms = performance.now() - this.#began;
    if (!this.search) return;
    const { params, given } = this.search;
    this.#registry?.report({
      collection: this.collection,
      method: 'live',
      args: [params, given],
      at: this.since,
      duration_ms: this.first_ms,
      result: snapshot.data,
    });
  }
}
