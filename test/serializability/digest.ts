import { encode, isSame, type Transaction } from './history.ts';

/** What a transaction saw of a key, of what others had written. */
export interface Observation {
  readonly reader: Transaction;
  readonly key: string;
  /** Whether it may have seen this value; `undefined` is a missing key. */
  readonly matches: (value: unknown) => boolean;
  readonly text: string;
  /** Whether a query did not find the key. */
  readonly isAbsence: boolean;
}

/** What a transaction shows to the outside. */
export interface Digest {
  readonly transaction: Transaction;
  readonly observations: readonly Observation[];
  /** Its last write of each key. */
  readonly writes: ReadonlyMap<string, unknown>;
  /** Writes that it replaced itself. */
  readonly replaced: readonly { readonly key: string; readonly value: unknown }[];
  /** Reads that did not see its own writes. */
  readonly problems: readonly string[];
}

/** @param keys All keys of the history: a query also tells what it did not find. */
export function digest(transaction: Transaction, keys: Iterable<string>): Digest {
  const observations: Observation[] = [];
  const writes = new Map<string, unknown>();
  const replaced: { key: string; value: unknown }[] = [];
  const problems: string[] = [];
  const see = (key: string, matches: Observation['matches'], text: string, isAbsence = false) => {
    if (!writes.has(key)) observations.push({ reader: transaction, key, matches, text, isAbsence });
    else if (!matches(writes.get(key)))
      problems.push(`${text} after it had written ${encode(writes.get(key))} itself`);
  };
  const seeValue = (key: string, value: unknown, verb: string) =>
    see(key, (other) => isSame(other, value), `${verb} ${key} = ${encode(value)}`);

  for (const operation of transaction.operations) {
    switch (operation.kind) {
      case 'read':
        seeValue(operation.key, operation.value, 'read');
        break;
      case 'write':
        if (writes.has(operation.key))
          replaced.push({ key: operation.key, value: writes.get(operation.key) });
        writes.set(operation.key, operation.value);
        break;
      case 'query': {
        const { keysAndValues, predicate, text = 'a query' } = operation;
        const isFound = (key: string, value: unknown) =>
          value !== undefined && predicate(key, value);
        for (const [key, value] of Object.entries(keysAndValues)) {
          seeValue(key, value, `found by ${text}`);
          if (!isFound(key, value))
            problems.push(`found by ${text} ${key} = ${encode(value)}, which does not match`);
        }
        for (const key of keys)
          if (!Object.hasOwn(keysAndValues, key))
            see(key, (value) => !isFound(key, value), `did not find ${key} by ${text}`, true);
      }
    }
  }
  return { transaction, observations, writes, replaced, problems };
}
