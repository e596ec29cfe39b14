import type { Digest, Observation } from './digest.ts';
import { isBefore, type State, type Transaction } from './history.ts';

/** A value of a key that transactions can see. */
export interface Version {
  readonly key: string;
  readonly value: unknown;
  /** `undefined` for the initial one. */
  readonly writer: Digest | undefined;
  /** As far as it is known: what it replaced, and what replaced it. */
  previous: Version | undefined;
  next: Version | undefined;
}

/** The versions of one key, in runs of known order. */
export class VersionsOfKey {
  readonly all: readonly Version[];
  /** Of unknown transactions that nobody is known to have seen. */
  readonly #possible: readonly Version[];

  constructor(
    key: string,
    initial: State,
    effective: readonly Digest[],
    undecided: readonly Digest[],
  ) {
    const versions = (digests: readonly Digest[]): Version[] =>
      digests
        .filter(({ writes }) => writes.has(key))
        .map((writer) => newVersion(key, writer.writes.get(key), writer));
    this.all = [newVersion(key, initial[key], undefined), ...versions(effective)];
    this.#possible = versions(undecided);
  }

  /**
   * Orders the versions: each replaced the one that its writer saw. Returns two that replaced the
   * same one.
   */
  order(): readonly [Version, Version] | undefined {
    let open = this.all.filter(({ writer }) => writer);
    for (let before = -1; before !== open.length; ) {
      before = open.length;
      for (const version of open) {
        const seen = [...this.all, ...this.#possible].filter((one) => mayFollow(version, one));
        const free = seen.length === 1 ? seen : seen.filter(({ next }) => !next);
        const previous = free[0] ?? seen[0];
        if (!previous || free.length > 1 || this.#possible.includes(previous)) continue;
        if (previous.next) return [previous.next, version];
        previous.next = version;
        version.previous = previous;
      }
      open = open.filter(({ previous }) => !previous);
    }
    return undefined;
  }

  /**
   * Runs of versions in a row that the observation allows: the reader is behind the first, and
   * before what follows.
   */
  runsOf({ reader, matches }: Observation): readonly Run[] {
    const runs: Run[] = this.#possible
      .filter(({ value, writer }) => matches(value) && !isAfter(writer, reader))
      .map((first) => ({ first, end: undefined, isPossible: true }));
    for (const start of this.all.filter(({ previous }) => !previous)) {
      let first: Version | undefined;
      let version: Version | undefined = start;
      // What follows the reader's own version comes after the reader.
      while (version && version.writer?.transaction !== reader) {
        if (matches(version.value)) first ??= version;
        else if (first) {
          runs.push({ first, end: version, isPossible: false });
          first = undefined;
        }
        version = version.next;
      }
      if (first) runs.push({ first, end: undefined, isPossible: false });
    }
    return runs;
  }
}

/** Versions in a row. */
export interface Run {
  readonly first: Version;
  /** The version that ended it, as far as it is known. */
  readonly end: Version | undefined;
  /** Whether it is one of an unknown transaction that may have had no effect. */
  readonly isPossible: boolean;
}

function newVersion(key: string, value: unknown, writer: Digest | undefined): Version {
  return { key, value, writer, previous: undefined, next: undefined };
}

function isAfter(writer: Digest | undefined, reader: Transaction): boolean {
  return writer !== undefined && isBefore(reader, writer.transaction);
}

/** Whether the writer of a version may have replaced the other one. */
function mayFollow({ key, writer }: Version, other: Version): boolean {
  if (!writer || other.writer === writer || isAfter(other.writer, writer.transaction)) return false;
  for (let one: Version | undefined = other; one; one = one.previous)
    if (one.writer === writer) return false;
  return writer.observations.every((seen) => seen.key !== key || seen.matches(other.value));
}
