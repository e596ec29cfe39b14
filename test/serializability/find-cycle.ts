import { dependenciesOf } from './dependencies.ts';
import type { Dependency } from './dependency-graph.ts';
import { type Digest, digest, type Observation } from './digest.ts';
import { type Effects, effectsOf } from './effects.ts';
import { encode, type History } from './history.ts';
import { VersionsOfKey } from './versions.ts';

export type AnomalyKind =
  /** A transaction did not see its own write, or a query found what does not match. */
  | 'wrong-answer'
  /** G1a: a value of an aborted transaction. */
  | 'dirty-read'
  /** G1b: a value that its writer replaced itself. */
  | 'intermediate-read'
  /** A value that nobody wrote, or that was there at no time when it could be seen. */
  | 'impossible-read'
  /** Two transactions replaced the same version. */
  | 'lost-update'
  /** Two transactions disagree about which came first. */
  | 'fractured-read'
  /** One `rw` in a longer cycle. */
  | 'read-skew'
  | 'write-skew'
  /** A cycle over what queries did not find. */
  | 'phantom'
  | 'long-fork'
  /** G1c: a cycle of writes and what was read of them. */
  | 'circular-flow'
  /** A cycle that needs the times. */
  | 'real-time-violation';

export interface Anomaly {
  readonly kind: AnomalyKind;
  /** Ids of the transactions in it. */
  readonly transactions: readonly string[];
  readonly explanation: string;
}

/**
 * Looks for a proof that no serial order explains the history, as Elle does.
 *
 * Fast, and sound; complete only if all values are unique and each write of a key follows a read of
 * it.
 */
export function findCycle(history: History): Anomaly | undefined {
  return findCycleWith(history, new Set());
}

/** @param known Ids of unknown transactions that have taken effect. */
function findCycleWith(history: History, known: ReadonlySet<string>): Anomaly | undefined {
  const effects = effectsOf(history, known);
  for (const { transaction, problems } of effects.readers)
    if (problems[0])
      return anomaly('wrong-answer', [transaction.id], `${transaction.id} ${problems[0]}`);
  const [impossible] = effects.impossible;
  if (impossible) return explainImpossible(impossible, history, effects);

  const versions = new Map<string, VersionsOfKey>();
  for (const key of effects.keys) {
    const ofKey = new VersionsOfKey(key, history.initial, effects.writers, effects.undecided);
    const pair = ofKey.order();
    if (pair) {
      const [a, b] = pair.map(({ writer }) => writer as Digest) as [Digest, Digest];
      const text = [a, b]
        .map(({ transaction, writes }) => `${transaction.id} to ${encode(writes.get(key))}`)
        .join(' and ');
      const ids = [a.transaction.id, b.transaction.id];
      return anomaly('lost-update', ids, `the same ${key} was changed by ${text}`);
    }
    versions.set(key, ofKey);
  }

  const { graph, misplaced, forced } = dependenciesOf(effects, versions);
  const cycle = graph.shortestCycle();
  if (cycle) {
    const ids = cycle.map(({ from }) => from.id);
    const lines = cycle.map(
      ({ kind, from, to, text }) => `${from.id} → ${to.id} (${kind}): ${text}`,
    );
    return anomaly(kindOf(cycle), ids, lines.join('\n'));
  }
  const [first] = misplaced;
  if (first) return explainImpossible(first, history, effects);
  return forced.length > 0 ? findCycleWith(history, new Set([...known, ...forced])) : undefined;
}

function anomaly(kind: AnomalyKind, transactions: readonly string[], explanation: string): Anomaly {
  return { kind, transactions, explanation };
}

function explainImpossible(
  { reader, key, matches, text, isAbsence }: Observation,
  { transactions }: History,
  { keys }: Effects,
): Anomaly {
  const what = `${reader.id} ${text}`;
  for (const one of isAbsence ? [] : transactions) {
    if (one.id === reader.id) continue;
    const { writes, replaced } = digest(one, keys);
    const wroteBetween = replaced.some((write) => write.key === key && matches(write.value));
    const kind = wroteBetween ? 'intermediate-read' : 'dirty-read';
    const wroteLast = writes.has(key) && matches(writes.get(key));
    const how = wroteBetween ? 'had replaced itself' : 'did not commit';
    if (wroteBetween || (wroteLast && one.status === 'aborted'))
      return anomaly(kind, [reader.id, one.id], `${what}, which ${one.id} ${how}`);
  }
  return anomaly('impossible-read', [reader.id], `${what}, which was there at no possible time`);
}

function kindOf(cycle: readonly Dependency[]): AnomalyKind {
  const isKind = (wanted: Dependency['kind']) => (one: Dependency) => one.kind === wanted;
  const reads = cycle.filter(isKind('rw'));
  if (cycle.some(isKind('time'))) return 'real-time-violation';
  if (reads.length === 0) return 'circular-flow';
  if (reads.length === 1) return cycle.length === 2 ? 'fractured-read' : 'read-skew';
  if (reads.some(({ isPhantom }) => isPhantom)) return 'phantom';
  return reads.length === cycle.length ? 'write-skew' : 'long-fork';
}
