import { isPlainObject } from '../../codec/kinds.ts';
import type { LocalRow, RecordState, RemoteRow } from '../../engine/protocol/replica-protocol.ts';
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

/** Merges local changes with states of the server. */
export class ConflictResolution {
  readonly #codec: StateCodec;
  readonly #resolver: Resolver | undefined;

  /** @param resolver Left out: merges by fields. */
  constructor(codec: StateCodec, resolver: Resolver | undefined) {
    this.#codec = codec;
    this.#resolver = resolver;
  }

  /**
   * @param isAncestor Whether the server's state is one that this replica pushed: the local one derives from it.
   * @throws {ReplicationError} `resolver_failed`
   */
  async resolve(row: RemoteRow, found: LocalRow, isAncestor: boolean): Promise<Resolved> {
    const { id } = row;
    const documentOf = (state: RecordState | undefined) =>
      state && this.#codec.toDocument(id, state);
    const [local, remote] = [documentOf(found.state), documentOf(row.state)];
    const base = isAncestor ? remote : documentOf(found.base);
    const resolved = (result: object | undefined, conflict?: Conflict): Resolved => {
      const state = this.#stateOf(id, result, [remote, row.state], [local, found.state]);
      return { row: { ...row, resolution: { seen: found.state, result: state } }, conflict };
    };
    if (sameContent(local, remote)) return resolved(remote);
    const isKnown = isAncestor || found.base !== undefined;
    if (isKnown && sameContent(base, remote)) return resolved(local);
    if (isKnown && sameContent(base, local)) return resolved(remote);
    const states = { id, base, local, remote };
    if (!this.#resolver) {
      const { result, lost } = mergeFields(base, local, remote);
      const isConflict = lost.length > 0 || !local || !remote;
      return resolved(result, isConflict ? conflictOf(states, result) : undefined);
    }
    const result = await this.#decide(states);
    return resolved(result, conflictOf(states, result));
  }

  async #decide(states: ConflictStates): Promise<object | undefined> {
    const { id } = states;
    try {
      const result = await this.#resolver?.(states);
      if (result === undefined) return undefined;
      if (!isPlainObject(result)) throw new TypeError('It returned no document.');
      return { ...result, _id: id };
    } catch (cause) {
      throw new ReplicationError(
        'resolver_failed',
        `resolve() failed for document "${id}": it must return a document, or undefined to delete it.`,
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
    for (const [document, state] of sides) if (sameContent(result, document)) return state;
    return this.#codec.toState({ ...result, _id: id } as ReplicatedDocument);
  }
}

function conflictOf(states: ConflictStates, result: object | undefined): Conflict {
  return { ...states, result, at: new Date() };
}
