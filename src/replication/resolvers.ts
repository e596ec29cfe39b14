import { type MergeRules, mergeChangedFields as merge } from './merge-fields.ts';

/** A document that was changed here and on the server. */
export interface ConflictStates<T extends object = object> {
  readonly id: string;
  /**
   * The server's state that both derive from; `undefined` where there was none, or it is not known.
   */
  readonly base: T | undefined;
  /** `undefined`: deleted here. */
  readonly local: T | undefined;
  /** `undefined`: deleted on the server. */
  readonly remote: T | undefined;
}

/**
 * Decides a conflict. It must return the same for the same states on every device, and change
 * nothing: two devices that decide differently overwrite each other for ever.
 *
 * @returns the document that all shall have; `undefined` deletes it.
 */
export type Resolver<T extends object = object> = (
  states: ConflictStates<T>,
) => T | undefined | Promise<T | undefined>;

/**
 * Merges by fields; where both have changed a field, the server's value wins. The default.
 *
 * @param rules As the option `merge` of `replicate()`.
 */
export function mergeFields<T extends object>(
  { base, local, remote }: ConflictStates<T>,
  rules?: MergeRules,
): T | undefined {
  return merge(base, local, remote, rules).result as T | undefined;
}

/** The server's state wins as a whole. */
export function remoteWins<T extends object>({ remote }: ConflictStates<T>): T | undefined {
  return remote;
}

/** The local state wins as a whole. */
export function localWins<T extends object>({ local }: ConflictStates<T>): T | undefined {
  return local;
}

/**
 * The state with the higher value at a path wins as a whole, such as a time of change; the server's
 * where they are equal.
 *
 * @example
 * ```ts
 * replicate(notes, { remote, resolve: newest('_updated_at') });
 * ```
 */
export function newest(
  path: string,
): <T extends object>(states: ConflictStates<T>) => T | undefined {
  const steps = path.split('.');
  const timeOf = (document: object | undefined): number => {
    let value: unknown = document;
    for (const step of steps)
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, step)
          ? (value as Record<string, unknown>)[step]
          : undefined;
    const time = typeof value === 'string' ? Date.parse(value) : Number(value ?? Number.NaN);
    return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
  };
  return ({ local, remote }) => (timeOf(local) > timeOf(remote) ? local : remote);
}
