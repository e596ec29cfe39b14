import type { Clock } from '../../async/clock.ts';
import { copy } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { orAborted } from '../../page/sending/call-arguments.ts';
import type { RecordState } from '../../protocol/record-states.ts';
import type { LocalRow, RebasedStates, RemoteRow } from '../../protocol/replica-protocol.ts';
import { type MergeRules, mergeChangedFields, sameContent } from '../merge-fields.ts';
import type { ReplicationSettings } from '../replication-options.ts';
import type { ConflictStates } from '../resolvers.ts';
import type { ReplicatedDocument, StateCodec } from '../states.ts';

/** A conflict and its resolution. */
export interface Conflict<T extends object = object> extends ConflictStates<T> {
  /** What all shall have; `undefined`: deleted. */
  readonly result: T | undefined;
  readonly at: Date;
}

/** A row with its resolution, and the conflict if there was one. */
export interface Resolved {
  readonly row: RemoteRow;
  readonly conflict: Conflict | undefined;
}

/** The state that a local one and the server's derive from. */
export interface Ancestor {
  readonly state: RecordState | undefined;
  /** The key of the push that has made it. */
  readonly push: string;
  /** Whether nobody has changed the server's state since: what it adds is the server's own. */
  readonly isNewest?: boolean;
  /** Whether it is the likeliest one: neither keys nor answers tell. */
  readonly isGuess?: boolean;
}

/** Merges local changes with states of the server. */
export class ConflictResolution {
  readonly #codec: StateCodec;
  readonly #settings: Pick<ReplicationSettings, 'resolve' | 'merge'>;
  readonly #clock: Clock;
  readonly #ended: AbortSignal;

  /**
   * @param settings Without a resolver, it merges by fields.
   * @param ended Ends the wait for a decision.
   */
  constructor(
    codec: StateCodec,
    settings: Pick<ReplicationSettings, 'resolve' | 'merge'>,
    clock: Clock,
    ended: AbortSignal,
  ) {
    this.#codec = codec;
    this.#settings = settings;
    this.#clock = clock;
    this.#ended = ended;
  }

  /**
   * @param ancestor The state that both derive from, if it is another than the base.
   * @param rebased Where operations were made: they are applied on both sides, and merge by that.
   * @throws {ReplicationError} `resolver_failed`
   */
  async resolve(
    row: RemoteRow,
    found: LocalRow,
    ancestor?: Ancestor,
    rebased?: RebasedStates,
  ): Promise<Resolved> {
    const { id } = row;
    const documentOf = (state: RecordState | undefined) =>
      state && this.#codec.toDocument(id, state);
    const theirs = rebased?.remote ?? row.state;
    const [local, remote] = [documentOf(found.state), documentOf(theirs)];
    const base = documentOf(rebased?.base ?? (ancestor ? ancestor.state : found.base));
    const resolved = (result: object | undefined, conflict?: Conflict): Resolved => {
      const state = this.#stateOf(
        id,
        result,
        [documentOf(row.state), row.state],
        [remote, theirs],
        [local, found.state],
      );
      const { operations } = rebased ?? {};
      return {
        row: { ...row, resolution: { seen: found.state, result: state, operations } },
        conflict,
      };
    };
    if (sameContent(local, remote)) return resolved(remote);
    if (ancestor?.isNewest && !local) return resolved(local);
    const isKnown = ancestor !== undefined || found.base !== undefined;
    const isGuess = ancestor?.isGuess === true;
    if (isKnown && sameContent(base, remote)) return resolved(local);
    if (isKnown && !isGuess && sameContent(base, local)) return resolved(remote);
    const states = { id, base, local, remote };
    const { resolve, merge } = this.#settings;
    if (!resolve) {
      const { result, lost } = mergeChangedFields(base, local, remote, merge);
      const isLost = isGuess && replaces(documentOf(found.base), local, result, merge);
      const isTold = isLost || lost.length > 0 || !local || !remote;
      return resolved(result, isTold ? this.#conflict(states, result) : undefined);
    }
    const result = await this.#decide(states);
    return resolved(result, this.#conflict(states, result));
  }

  #conflict(states: ConflictStates, result: object | undefined): Conflict {
    return { ...states, result, at: new Date(this.#clock.now()) };
  }

  async #decide(states: ConflictStates): Promise<object | undefined> {
    const { id } = states;
    try {
      // A copy: what it changes there must not look like the states that are compared later.
      const decision = Promise.resolve(this.#settings.resolve?.(copy(states)));
      // One that never comes must not outlast pause().
      const result = await orAborted(decision, this.#ended);
      if (result === undefined) return undefined;
      if (!isPlainObject(result)) throw new TypeError('it returned no document');
      return { ...result, _id: id };
    } catch (cause) {
      throw new ReplicationError(
        'resolver_failed',
        `resolve() failed for document "${id}": ${(cause as Error)?.message ?? cause}. It must return a document, or undefined to delete it.`,
        { place: id, cause },
      );
    }
  }

  /** The very state of the side that the result equals: it is compared later. */
  #stateOf(
    id: string,
    result: object | undefined,
    ...sides: readonly [object | undefined, RecordState | undefined][]
  ): RecordState | undefined {
    if (!result) return undefined;
    for (const [document, state] of sides) if (sameContent(result, document)) return state;
    return this.#codec.toState({ ...result, _id: id } as ReplicatedDocument);
  }
}

/** Whether a result lacks a local change: a wrong guess must not lose it without a word. */
function replaces(
  base: object | undefined,
  local: object | undefined,
  result: object | undefined,
  rules: MergeRules | undefined,
): boolean {
  const both = mergeChangedFields(base, local, result, rules);
  return both.lost.length > 0 || !sameContent(both.result, result);
}
