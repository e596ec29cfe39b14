import { DependencyGraph } from './dependency-graph.ts';
import type { Digest, Observation } from './digest.ts';
import type { Effects } from './effects.ts';
import { encode, type Transaction } from './history.ts';
import type { Run, Version, VersionsOfKey } from './versions.ts';

/** An observation, and the versions that it may have been of. */
interface Sighting {
  readonly seen: Observation;
  readonly runs: readonly Run[];
}

export interface Dependencies {
  readonly graph: DependencyGraph;
  /** Observations that fit nowhere. */
  readonly misplaced: readonly Observation[];
  /** Ids of unknown transactions: without them other observations fit nowhere. */
  readonly forced: readonly string[];
}

export function dependenciesOf(
  { readers, writers }: Effects,
  versions: ReadonlyMap<string, VersionsOfKey>,
): Dependencies {
  const nodes = new Set([...readers, ...writers].map(({ transaction }) => transaction));
  const graph = new DependencyGraph([...nodes]);
  for (const { all } of versions.values())
    for (const version of all) addReplacement(graph, version);

  let open = readers.flatMap(({ observations }) =>
    observations.map((seen): Sighting => {
      const runs = (versions.get(seen.key) as VersionsOfKey).runsOf(seen);
      return { seen, runs };
    }),
  );
  const misplaced = open.filter(({ runs }) => runs.length === 0).map(({ seen }) => seen);
  const forced: string[] = [];
  // One that is certain may leave a single place for another.
  for (let before = -1; before !== open.length; ) {
    before = open.length;
    for (const { seen, runs } of open) {
      const [run, ...others] = runs;
      if (!run || others.length > 0) continue;
      if (run.isPossible) forced.push(writerOf(run.first)?.id as string);
      else addRun(graph, seen, run);
    }
    open = open
      .filter(({ runs }) => runs.length > 1)
      .map(({ seen, runs }) => ({ seen, runs: runs.filter((run) => fits(graph, seen, run)) }));
    misplaced.push(...open.filter(({ runs }) => runs.length === 0).map(({ seen }) => seen));
  }
  return { graph, misplaced, forced };
}

function writerOf(version: Version | undefined): Transaction | undefined {
  return version?.writer?.transaction;
}

function describe(key: string, { transaction }: Digest, value: unknown): string {
  return `${transaction.id} wrote ${key} = ${encode(value)}`;
}

function addReplacement(graph: DependencyGraph, { key, value, writer, previous }: Version): void {
  if (!writer || !previous?.writer) return;
  graph.add({
    from: previous.writer.transaction,
    to: writer.transaction,
    kind: 'ww',
    text: `${describe(key, previous.writer, previous.value)}, and ${describe(key, writer, value)} next`,
  });
}

function addRun(graph: DependencyGraph, seen: Observation, { first, end }: Run): void {
  const { reader, key, text, isAbsence } = seen;
  if (first.writer)
    graph.add({
      from: first.writer.transaction,
      to: reader,
      kind: 'wr',
      text: `${describe(key, first.writer, first.value)}, then ${reader.id} ${text}`,
    });
  if (end?.writer)
    graph.add({
      from: reader,
      to: end.writer.transaction,
      kind: 'rw',
      text: `${reader.id} ${text}, before ${describe(key, end.writer, end.value)}`,
      isPhantom: isAbsence,
    });
}

function fits(graph: DependencyGraph, { reader }: Observation, { first, end }: Run): boolean {
  const [from, to] = [writerOf(first), writerOf(end)];
  return !(from && graph.reaches(reader, from)) && !(to && graph.reaches(to, reader));
}
