import { copy } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { orAborted } from '../../collection/calls/first-call.ts';
import type { LocalRow, RecordState, RemoteRow } from '../../engine/protocol/replica-protocol.ts';
import type { Clock } from '../../engine/scheduling/clock.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import type { ReplicatedDocument, StateCodec } from '../documents/states.ts';
import { mergeFields } from '../merge/merge-fields.ts';
import type { ConflictStates, Resolver } from '../merge/resolvers.ts';
import { sameContent } from '../merge/same-content.ts';

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

/** The push that made a state of the server; `unknown` if another page, or an earlier one, has sent it. */
export type Origin = { readonly state: RecordState | undefined } | 'unknown';

/** Merges local changes with states of the server. */
export class ConflictResolution {
  readonly #codec: StateCodec;
  readonly #resolver: Resolver | undefined;
  readonly #clock: Clock;
  readonly #ended: AbortSignal;

  /**
   * @param resolver Left out: merges by fields.
   * @param ended Ends the wait for a decision.
   */
  constructor(codec: StateCodec, resolver: Resolver | undefined, clock: Clock, ended: AbortSignal) {
    this.#codec = codec;
    this.#resolver = resolver;
    this.#clock = clock;
    this.#ended = ended;
  }

  /**
   * @param origin The push of this replica that made the server's state.
   * @throws {ReplicationError} `resolver_failed`
   */
  async resolve(row: RemoteRow, found: LocalRow, origin?: Origin): Promise<Resolved> {
    const { id } = row;
    const documentOf = (state: RecordState | undefined) =>
      state && this.#codec.toDocument(id, state);
    const [local, remote] = [documentOf(found.state), documentOf(row.state)];
    const isUnknown = origin === 'unknown';
    const known = documentOf(origin && !isUnknown ? origin.state : found.base);
    const base = isUnknown ? pushedBy(known, local, remote) : known;
    const resolved = (result: object | undefined, conflict?: Conflict): Resolved => {
      const state = this.#stateOf(id, result, [remote, row.state], [local, found.state]);
      return { row: { ...row, resolution: { seen: found.state, result: state } }, conflict };
    };
    if (sameContent(local, remote)) return resolved(remote);
    const isKnown = origin !== undefined || found.base !== undefined;
    if (isKnown && sameContent(base, remote)) return resolved(local);
    if (isKnown && sameContent(base, local)) return resolved(remote);
    const states = { id, base, local, remote };
    if (!this.#resolver) {
      const { result, lost } = mergeFields(base, local, remote);
      const isConflict = lost.length > 0 || !local || !remote;
      return resolved(result, isConflict ? this.#conflict(states, result) : undefined);
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
      const decision = Promise.resolve(this.#resolver?.(copy(states)));
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

/**
 * The state that was pushed, as far as the server's tells: the server adds fields to those that were sent, and hardly
 * changes them.
 */
function pushedBy(
  base: object | undefined,
  local: object | undefined,
  remote: object | undefined,
): object | undefined {
  if (!local || !remote) return remote;
  const isSent = (key: string) => Object.hasOwn(local, key) || Object.hasOwn(base ?? {}, key);
  return Object.fromEntries(Object.entries(remote).filter(([key]) => isSent(key)));
}
