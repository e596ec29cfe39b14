import type { Remote, RemoteFetch } from '../../../src/replication/index.ts';

/** The moment of a push at which a server fails. */
export type FailureMoment = 'before' | 'during' | 'after';

/** A failure in the middle of a push. */
export interface Failure {
  readonly moment: FailureMoment;
  /** Pushes before it that succeed. */
  readonly after: number;
}

/** A server of its own process, or on a port of its own. */
export interface RealServer {
  /** The collection there, as a client reaches it. */
  remote(collection: string, through: (server: RemoteFetch) => RemoteFetch): Promise<Remote>;
  /** The documents as the database itself has them, by id. */
  documents(collection: string): Promise<Map<string, object>>;
  /** Called when it is there again. */
  readonly onUp: Set<() => void>;
  /** Fails in the middle of pushes. */
  fail(failures: readonly Failure[]): void;
  /** Resolves when it is there again; no failure is due any more. */
  recovered(): Promise<void>;
  /**
   * Another program adds a value to a document, in the field `s`, and keeps what it does not know.
   *
   * @returns whether it was there, and nobody else has changed it meanwhile.
   */
  neighbour?(collection: string, id: string, token: string): Promise<boolean>;
  /** Pushes that took effect twice. */
  appliedTwice(collection: string): Promise<string[]>;
}
