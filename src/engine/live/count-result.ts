import type { OperationContext } from '../collections/collection-context.ts';
import { type CompiledSelection, compileSelection } from '../find/compiled-selection.ts';
import { Query } from '../find/query.ts';
import type { LiveNews } from '../protocol/live-protocol.ts';
import type { Selection } from '../protocol/requests.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import { Pace } from '../scheduling/pace.ts';
import type { BodyOf, LiveResult } from './live-result.ts';

/** The number of matching documents. */
export class CountResult implements LiveResult {
  readonly #context: OperationContext;
  readonly #selection: Selection;
  readonly #compiled: CompiledSelection;
  readonly #members = new Set<string>();
  /** The count that the reader has; `undefined` before the first. */
  #told: number | undefined;
  #loaded = false;

  constructor(context: OperationContext, selection: Selection) {
    this.#context = context;
    this.#selection = selection;
    this.#compiled = compileSelection(context, selection);
  }

  update(keys: ReadonlySet<string>, bodyOf: BodyOf): boolean {
    const { wanted, test } = this.#compiled;
    for (const key of keys) {
      const record = this.#context.records.get(key);
      if (record && wanted(record) && (!test || test(record, bodyOf(record)))) {
        this.#members.add(key);
      } else this.#members.delete(key);
    }
    return this.#members.size !== this.#told;
  }

  reload(): void {
    this.#loaded = false;
  }

  *next(): Coroutine<LiveNews | undefined> {
    if (!this.#loaded) {
      this.#loaded = true;
      this.#members.clear();
      const { clock, aborts } = this.#context;
      const query = new Query(this.#context, this.#selection, new Pace(clock, aborts));
      for (const { key } of yield* query.records()) this.#members.add(key);
    }
    if (this.#told === this.#members.size) return undefined;
    this.#told = this.#members.size;
    return { count: this.#told };
  }
}
