import type { FindOptions } from '../document-types.ts';

/** Options of a live query. */
export interface LiveOptions<T extends object> extends Omit<FindOptions<T>, 'after' | 'signal'> {
  /**
   * Milliseconds from one result to the next at the least; what lies between is not computed.
   * @default 0
   */
  throttle?: number | undefined;
}

/** Options of a live count. */
export type LiveCountOptions<T extends object> = Pick<
  LiveOptions<T>,
  'archived' | 'where' | 'throttle'
>;
