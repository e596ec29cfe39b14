import { toHex } from '../codec/exact-json/base64.ts';
import type { WireChange } from '../codec/exact-json/wire-changes.ts';
import type { WireDocument } from '../codec/exact-json/wire-documents.ts';
import type { PullAnswer } from '../replication/protocol/http-answers.ts';
import { ServerError } from './failures.ts';

/** A row to push, with a checked document. */
export interface StoreRow {
  readonly id: string;
  /** The version of the server's state that the row derives from. */
  readonly base?: string | undefined;
  readonly key: string;
  /** `undefined`: deleted. */
  readonly document?: WireDocument | undefined;
  /**
   * The version that `authorize` has checked, {@link ABSENT} for none. If the stored row has
   * another, the store answers `stale` and changes nothing. So it replaces only what was checked.
   */
  readonly seen?: string | undefined;
}

/** A stored row with its idempotency keys. */
export interface StoredRow {
  readonly id: string;
  readonly version: string;
  /** `null`: deleted. */
  readonly document: WireDocument | null;
  /** Of the last accepted pushes, newest first. */
  readonly keys: readonly string[];
  /**
   * The versions that these made. Left out: the server applies no operations, and the devices do.
   */
  readonly versions?: readonly string[] | undefined;
}

/** What a store did with one {@link StoreRow}. */
export type StoreResult =
  | {
      readonly version: string;
      /**
       * The present document, where somebody else has changed it since a push that is now repeated.
       */
      readonly document?: WireDocument;
      /** The version that the repeated push made, where it is not `version`. */
      readonly made?: string;
    }
  | { readonly conflict: WireChange }
  | { readonly rejected: { readonly reason: string; readonly retry?: boolean } }
  | { readonly stale: true };

/**
 * Where a server keeps the documents of its collections: {@link memory}, {@link postgres}, or your
 * own. Documents are JSON with wrappers such as `{"$date":0}` for other values.
 */
export interface Store {
  /**
   * The changes after a checkpoint in the order in which they became visible, at most `limit` and
   * about 1 MB.
   *
   * @throws {ServerError} `checkpoint_invalid` for a checkpoint of another format.
   */
  pull(collection: string, after: string | undefined, limit: number): Promise<PullAnswer>;

  /**
   * The answer of {@link pull} as JSON text, for users who may see every document: nobody reads it
   * on the way. Left out: `pull` is used.
   */
  pullText?(collection: string, after: string | undefined, limit: number): Promise<string>;

  /**
   * Makes each row or refuses it, by the rules of `Remote`; the results are in the order of the
   * rows. All accepted rows become visible at once. Documents in the results have about 1 MB; a row
   * whose document would be more is rejected with `retry`.
   */
  push(collection: string, rows: readonly StoreRow[]): Promise<readonly StoreResult[]>;

  /** The stored rows with these ids, deleted ones included, in any order. */
  read(collection: string, ids: readonly string[]): Promise<readonly StoredRow[]>;

  /**
   * Remembers that clients of a scope have documents, and tells which others some have had, also
   * after a restart: those have left it. Left out: of each document that changes, the clients of a
   * scope hear its id.
   */
  served?(
    collection: string,
    scope: string,
    ids: readonly string[],
    asked: readonly string[],
  ): Promise<readonly string[]>;

  /**
   * Resolves with `true` when there is something newer than `after`, with `false` once the signal
   * aborts.
   */
  watch(collection: string, after: string, signal: AbortSignal): Promise<boolean>;

  /** Creates tables and the like. It may run again, and in several processes at once. */
  setup?(): Promise<void>;

  /** Frees connections that the store has opened for `watch`. */
  close?(): Promise<void>;
}

/** The version of a document that the server has never had. */
export const ABSENT = '0';

/**
 * Idempotency keys that a store remembers with each document; beside them the newest of each other
 * device, up to {@link DEVICES}.
 */
export const KEYS = 8;

/**
 * A store knows the last push of so many devices: an operation whose answer was lost counts once,
 * as long as no more of them push to its document.
 */
export const DEVICES = 256;

/** The device in an idempotency key; keys of others than devices share one. */
export function replicaOf(key: string): string {
  return key.includes('.') ? key.slice(0, key.indexOf('.')) : '';
}

/** Bytes of documents after which a page of changes ends. */
export const PAGE_BYTES = 1_000_000;

/** Bytes of the largest document that clients take: their answers have at most 16 MB. */
export const DOCUMENT_BYTES = 15_000_000;

/** The answer to a row whose document would not fit: the page pulls, and sends it again. */
export const ANSWER_FULL: StoreResult = {
  rejected: { reason: 'Too many documents have changed: the others come by a pull.', retry: true },
};

/** Why a document is in no answer. */
export const TOO_LARGE = 'The document of the server is too large.';

interface Waiter {
  /** The last change that the client has. */
  readonly seq: number;
  readonly settle: (changed: boolean) => void;
}

/** Requests that wait for a change of a collection. */
export class Waiters {
  readonly #byCollection = new Map<string, Set<Waiter>>();

  /** The collections that requests wait for. */
  collections(): string[] {
    return [...this.#byCollection.keys()];
  }

  /**
   * `true` at the next change with a higher number, `false` once the signal aborts: then nothing is
   * left of it.
   */
  wait(collection: string, seq: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiters = this.#byCollection.get(collection) ?? new Set();
      this.#byCollection.set(collection, waiters);
      const settle = (changed: boolean): void => {
        signal.removeEventListener('abort', onAbort);
        waiters.delete(waiter);
        if (waiters.size === 0) this.#byCollection.delete(collection);
        resolve(changed);
      };
      const waiter = { seq, settle };
      const onAbort = (): void => settle(false);
      signal.addEventListener('abort', onAbort);
      waiters.add(waiter);
    });
  }

  /** Settles the requests that have none of the changes up to `seq`. */
  ring(collection: string, seq: number): void {
    for (const waiter of [...(this.#byCollection.get(collection) ?? [])]) {
      if (waiter.seq < seq) waiter.settle(true);
    }
  }

  /** Settles all: they may have missed a change. */
  ringAll(): void {
    for (const collection of this.collections()) this.ring(collection, Infinity);
  }
}

/**
 * A place in the history of a collection. docs/decisions/023-replication-server.md says what makes
 * an epoch.
 */
interface ServerCheckpoint {
  /** Names the history: a restored copy has another. */
  readonly epoch: string;
  /** The number of the last change that the client has. */
  readonly seq: number;
}

/** The checkpoint of a collection that does not exist yet: its history begins later. */
export const START = '0.0';

const FORMAT = /^([0-9a-f]{1,32})\.(\d{1,15})$/;

export const formatCheckpoint = ({ epoch, seq }: ServerCheckpoint): string => `${epoch}.${seq}`;

/** @throws {ServerError} for a checkpoint of another format. */
export function parseCheckpoint(text: string): ServerCheckpoint {
  const [, epoch, seq] = FORMAT.exec(text) ?? [];
  if (epoch !== undefined && seq !== undefined) return { epoch, seq: Number(seq) };
  throw new ServerError('checkpoint_invalid', 'The checkpoint is not one of this server.');
}

/** Hexadecimal digits that no other call returns. */
export function randomHex(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}
