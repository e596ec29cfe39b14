import type { Plan } from '../../query/plan/plan.ts';

/** A query that took longer than `slow_query_ms`, and why. */
export interface SlowQuery {
  readonly collection: string;
  /** The method, such as `filter`; `live` for the first result of a live query. */
  readonly method: string;
  /** Criteria or function, as given. */
  readonly params: unknown;
  /** Options as given. */
  readonly options: object | undefined;
  readonly at: Date;
  /** Milliseconds from the call to its result, in this page. */
  readonly duration_ms: number;
  /** From `explain()`, which runs the query once more. `undefined` if that failed. */
  readonly plan: Plan | undefined;
  /** Index keys examined. */
  readonly keys_examined: number | undefined;
  readonly documents_examined: number | undefined;
  readonly returned: number | undefined;
  /** Milliseconds in the engine; the rest is delivery, decoding, and calls before it. */
  readonly engine_ms: number | undefined;
}

/** As the client emits it. */
export interface SlowQueryEvent {
  readonly type: 'slow_query';
  readonly detail: SlowQuery;
}
