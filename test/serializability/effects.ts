import { type Digest, digest, type Observation } from './digest.ts';
import { type History, participantsOf, type Transaction } from './history.ts';

/** Which transactions took effect, as far as somebody saw it. */
export interface Effects {
  readonly keys: ReadonlySet<string>;
  /** Final states and, for opacity, aborted transactions are among the readers. */
  readonly readers: readonly Digest[];
  readonly writers: readonly Digest[];
  /** Unknown transactions that nobody has to have seen. */
  readonly undecided: readonly Digest[];
  /** Observations of values that no transaction with an effect left. */
  readonly impossible: readonly Observation[];
}

/** @param forced Ids of unknown transactions that are known to have taken effect. */
export function effectsOf(history: History, forced: ReadonlySet<string> = new Set()): Effects {
  const keys = keysOf(history);
  const all = participantsOf(history).map((one) => digest(one, keys));
  const isDecided = ({ transaction: { id, status } }: Digest) =>
    status !== 'unknown' || forced.has(id);
  const readers = all.filter(isDecided);
  const writers = readers.filter(({ transaction }) => transaction.status !== 'aborted');
  let undecided = all.filter((one) => !isDecided(one));
  const impossible: Observation[] = [];
  // It grows: an unknown transaction that was seen has seen something itself.
  for (const { observations } of readers) {
    for (const seen of observations) {
      const isBy = ({ writes, transaction }: Digest) =>
        transaction !== seen.reader && writes.has(seen.key) && seen.matches(writes.get(seen.key));
      if (seen.matches(history.initial[seen.key]) || writers.some(isBy)) continue;
      const [first, ...others] = undecided.filter(isBy);
      if (!first) impossible.push(seen);
      else if (others.length === 0) {
        undecided = undecided.filter((one) => one !== first);
        readers.push(first);
        writers.push(first);
      }
    }
  }
  return { keys, readers, writers, undecided, impossible };
}

function keysOf({ initial, transactions, finals }: History): Set<string> {
  const states = [initial, ...finals.map(({ state }) => state)];
  const operations = transactions.flatMap((one: Transaction) => one.operations);
  return new Set([
    ...states.flatMap((state) => Object.keys(state)),
    ...operations.flatMap((one) =>
      one.kind === 'query' ? Object.keys(one.keysAndValues) : [one.key],
    ),
  ]);
}
