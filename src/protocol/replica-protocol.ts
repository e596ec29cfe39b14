import type { Operation } from '../query/update/late-update.ts';
import { HOLDS_QUEUE, OF_REPLICA } from './operation-kinds.ts';
import type { RecordState } from './record-states.ts';

/** A part of a collection that replicates. */
export interface ScopeState {
  /** As the remote gets it, as JSON. */
  readonly name: string;
  /** Names it in the engine; never used again. */
  readonly id: string;
  /** Where its next pull starts. */
  readonly checkpoint: string | undefined;
  /** When it goes, in Unix milliseconds. */
  readonly until?: number | undefined;
  /** Whether it is one that `replicate()` was given. */
  readonly isGiven?: boolean | undefined;
}

/** What the engine keeps of a replicated collection as a whole. */
export interface ReplicaState {
  /** Names the server's data set. */
  readonly remote: string;
  /** Names this replica: the keys of its pushes begin with it. */
  readonly replica: string;
  /** Where the next pull starts; `undefined` before the first. JSON. */
  readonly checkpoint: string | undefined;
  /** `undefined` where the whole collection replicates. */
  readonly scopes?: readonly ScopeState[] | undefined;
}

export interface OpenReplica extends ReplicaState {
  /** Names the opening: another engine has another one. */
  readonly opening: string;
  /** The last end of a collection of the name. */
  readonly born: number;
  /** Whether it has nothing of the server yet. */
  readonly isNew: boolean;
}

/**
 * A push whose answer is not known, with what was sent; `null`: a deletion. The state is left out
 * while the document is as it was sent. The key is kept without the name of the replica.
 */
export type Push = readonly [key: string, state?: RecordState | null];

/** A document that differs from the server's, as far as the replica knows. */
export interface LocalRow {
  readonly id: string;
  /** The server's version that it derives from. */
  readonly version: string | undefined;
  /** The server's state at that version. */
  readonly base: RecordState | undefined;
  /** `undefined` where it was deleted. */
  readonly state: RecordState | undefined;
  /** Why the server refused it. */
  readonly refused: string | undefined;
  /**
   * Pushes without an answer that were based on that version, oldest first: the server has made one
   * of them at most.
   */
  readonly pushes: readonly Push[];
  /**
   * Where it was changed by operations: those that each push has sent, by its key, unless it has
   * sent other changes too.
   */
  readonly operations?:
    | Readonly<Record<string, { readonly sent?: readonly Operation[] }>>
    | undefined;
}

/** States of a document on which its local operations have been applied. */
export interface RebasedStates {
  /** Those that could be applied. */
  readonly operations: readonly Operation[];
  /** The state that they were made on. */
  readonly base: RecordState;
  /** The state of the server. */
  readonly remote: RecordState;
}

/** A state of the server to be applied. */
export interface RemoteRow {
  readonly id: string;
  /** `undefined` where the server never had it. */
  readonly version: string | undefined;
  /** `undefined` where it was deleted. */
  readonly state: RecordState | undefined;
  /** Whether it has left the scope of the request, and nothing else is said. */
  readonly left?: boolean;
  /**
   * How to resolve it with a local change. Applied if the local state still is the one that was
   * seen.
   */
  readonly resolution?:
    | {
        readonly seen: RecordState | undefined;
        readonly result: RecordState | undefined;
        /** Local operations that have led to the result. */
        readonly operations?: readonly Operation[] | undefined;
      }
    | undefined;
}

/** The server's answer to a row that was pushed. */
export interface PushedRow {
  readonly id: string;
  /** Of the {@link Push}. */
  readonly key: string;
  /** Of the accepted row. */
  readonly version?: string | undefined;
  /** The accepted state, where the server has another than was sent. */
  readonly stored?: { readonly state: RecordState | undefined } | undefined;
  /** Why it is refused. */
  readonly refused?: string | undefined;
}

/** Where the replication of a collection stands, for all clients. */
export interface ReplicaReport {
  readonly collection: string;
  /** Documents that differ from the server's, and were not refused. */
  readonly pending: number;
  /** Documents that the server refused. */
  readonly rejected: number;
  /** How often a client asked for a round, since the engine has opened the collection. */
  readonly asked: number;
  /** Names the opening: another engine counts anew. */
  readonly opening: string;
  /** What the page that replicates reported last; each client knows its shape. */
  readonly report: unknown;
}

/**
 * A part of a round: it rejects where another engine has opened the collection since the round
 * began.
 */
interface RoundPart {
  /** The opening that the round began with. */
  readonly opening?: string;
}

/**
 * The operations of replication. All of them are idempotent: a client may repeat them to another
 * engine.
 */
export interface ReplicaOperations {
  /** Begins, or goes on. Rejects where the collection replicates with another remote. */
  replicaOpen: {
    ask: {
      readonly remote: string;
      /** The names of scopes; `null`: as they are. */
      readonly scopes?: readonly string[] | null | undefined;
    };
    reply: OpenReplica;
  };
  /** Adds a scope, or removes it. */
  replicaScope: {
    ask: { readonly scope: string; readonly until?: number | undefined; readonly ends?: boolean };
    reply: undefined;
  };
  /** Removes documents that no scope has, once all scopes were pulled. */
  replicaSweep: { ask: RoundPart; reply: undefined };
  /** Reports to all clients, or asks for a round. Replies with the last report. */
  replicaReport: {
    ask: { readonly report?: unknown; readonly asks?: boolean };
    reply: ReplicaReport;
  };
  /**
   * Lists changes that are saved and were not pushed. What is listed counts as pushed, with an
   * answer that is not known.
   */
  replicaChanges: {
    ask: RoundPart & {
      readonly limit: number;
      readonly skip?: readonly string[];
      /** `true`: the refused ones instead. `'look'`: without noting that they are pushed. */
      readonly refused?: boolean | 'look';
    };
    reply: {
      readonly rows: readonly LocalRow[];
      /** Changes that were met and are not saved. */
      readonly unsaved: number;
    };
  };
  /**
   * Applies states of the server. Replies with the rows that a local change conflicts with, which
   * are not applied; without conflicts the checkpoint is kept in the same write.
   */
  replicaApply: {
    ask: RoundPart & {
      readonly rows: readonly RemoteRow[];
      /** The id of the scope that they are of. */
      readonly scope?: string | undefined;
      /** Where the pull started. Rejects where another replication has moved it. */
      readonly after?: string | undefined;
      readonly checkpoint?: string | undefined;
      /**
       * After a reset: all ids of the server, or of the scope. Others that derive from it are
       * deleted there, or have left the scope.
       */
      readonly kept?: readonly string[] | undefined;
    };
    reply: readonly LocalRow[];
  };
  /** Reads a packed page that `replicaFill` is to add. It does not hold the queue. */
  replicaRead: {
    ask: RoundPart & {
      /** As packed-page.ts has it. */
      readonly packed: Uint8Array;
      readonly after: string | undefined;
    };
    reply: undefined;
  };
  /**
   * Adds the documents of a packed page that has been read, with the checkpoint in the same write.
   * Replies with how many changes it has; `undefined` where nothing is added, as one of them is
   * known here, cannot be read, or an index refuses it.
   */
  replicaFill: {
    ask: RoundPart & {
      readonly after: string | undefined;
      readonly checkpoint: string;
    };
    reply: number | undefined;
  };
  /**
   * Applies the local operations since a push, or since the base, to a state of the server. Replies
   * with `undefined` where there are none.
   */
  replicaRebase: {
    ask: RoundPart & {
      readonly id: string;
      readonly remote: RecordState;
      readonly push?: string | undefined;
    };
    reply: RebasedStates | undefined;
  };
  /** Notes the server's answers. */
  replicaPushed: { ask: RoundPart & { readonly rows: readonly PushedRow[] }; reply: undefined };
  /** Gives up the local change of a document. Replies whether there was one. */
  replicaRevert: { ask: { readonly id: string }; reply: boolean };
  /** Forgets what it knows of the server. Documents stay. */
  replicaEnd: { ask: object; reply: undefined };
}

/** Nothing must come in between. */
const HOLDING = OF_REPLICA | HOLDS_QUEUE;

/** What they do. */
export const REPLICA_OPERATIONS = {
  replicaOpen: HOLDING,
  replicaScope: HOLDING,
  replicaSweep: HOLDING,
  replicaReport: HOLDING,
  replicaChanges: HOLDING,
  replicaApply: HOLDING,
  replicaRead: OF_REPLICA,
  replicaFill: HOLDING,
  replicaRebase: HOLDING,
  replicaPushed: HOLDING,
  replicaRevert: HOLDING,
  replicaEnd: HOLDING,
} satisfies Readonly<Record<keyof ReplicaOperations, number>>;
