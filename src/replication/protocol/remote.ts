import type { Operation } from '../../query/update/late-update.ts';

/** The state of one document on the server. */
export interface RemoteChange {
  readonly id: string;
  /**
   * Names this state: opaque, at most 1,024 characters. A server never uses it for another state,
   * not even after an older copy of its data was restored.
   */
  readonly version: string;
  /** Left out or `null`: deleted, or not visible to this user. */
  readonly document?: object | null | undefined;
  /**
   * The idempotency key of the push that made this state. Without keys, clients know their pushes
   * by content.
   */
  readonly key?: string;
  /** It is there, and no more in the requested scope; without a document. */
  readonly left?: boolean;
  /**
   * What of the document is not as it was written, as a clause, for the event `invalid`. It is
   * stored all the same.
   */
  readonly defect?: string;
}

/** A document that cannot be taken. */
export interface RefusedRow {
  readonly id: string;
  readonly reason: string;
}

/** The newest state of a document that was changed locally. */
export interface LocalChange {
  readonly id: string;
  /**
   * The version of the server's state that the local state derives from; `undefined`: the document
   * is new.
   */
  readonly base: string | undefined;
  /** `undefined`: deleted. */
  readonly document: object | undefined;
  /** Idempotency key, `<replica id>.<random>`: a retry of the same state has the same key. */
  readonly key: string;
  /**
   * Update operators that make `document` of the state at `base`, where nothing else has. Where
   * `base` is not the newest version, a server may apply them to what it has, once for a key. One
   * that does not answers with the conflict, and the device applies them.
   */
  readonly operations?: readonly Operation[] | undefined;
  /**
   * Where `document` names files: the secret that they were sent with, which proves that this
   * device has them.
   */
  readonly device?: string | undefined;
}

/** A part of a collection, by one name and a value: `{ technician: 'ada' }`. */
export type ReplicationScope = Readonly<Record<string, string | number | boolean>>;

export interface PulledScope {
  readonly scope: ReplicationScope;
  /** A checkpoint of the remote. */
  readonly after: unknown;
}

/** Those of some ids that this device has: of others it need not hear that they have left. */
export type HeldIds = (ids: readonly string[]) => Promise<readonly string[]>;

/** What the server did with one {@link LocalChange}. */
export type PushResult =
  /**
   * Accepted; `document` where the server has another than was pushed, because it or somebody else
   * changed it; `null` where it was deleted since.
   */
  | { readonly version: string; readonly document?: object | null }
  /** `base` is not the server's newest version. */
  | { readonly conflict: RemoteChange }
  /** Refused; with `retry` the same row may be accepted later. */
  | { readonly rejected: { readonly reason: string; readonly retry?: boolean } };

/** One page of the server's changes. */
export interface PulledPage<Checkpoint> {
  /** In the order of the server; a document has its newest state only. */
  readonly changes: readonly RemoteChange[];
  /** Where the next pull continues. */
  readonly checkpoint: Checkpoint;
  /** Whether there are more changes now. */
  readonly more: boolean;
  /**
   * Changed documents that this client cannot take, such as too large ones. They are reported as
   * `rejected`.
   */
  readonly rejected?: readonly RefusedRow[];
  /**
   * The history of the server is another one than the given checkpoint belongs to: the data were
   * restored or created anew. These changes begin from the start.
   */
  readonly reset?: true;
}

/**
 * A long page of a first pull, which the engine reads. It may have older states of documents whose
 * newest ones come in later pages.
 */
export interface PackedPage extends Omit<PulledPage<string>, 'changes' | 'reset'> {
  /** Its changes, compressed. */
  readonly packed: Uint8Array;
  /** The same as an ordinary page; where it cannot be read, the one that the server sends now. */
  unpack(ask: PackedAsk): Promise<PulledPage<string>>;
}

interface PackedAsk {
  readonly limit: number;
  readonly signal: AbortSignal;
}

type PullPacked = (
  after: string | undefined,
  ask: PackedAsk,
) => Promise<PackedPage | PulledPage<string>>;

/**
 * By the very function that pulls: one that an app has put around it, which may change what comes,
 * is called for ordinary pages.
 */
export const packedPulls = new WeakMap<object, PullPacked>();

/** A file: its SHA-256 in hexadecimal digits, and its bytes. */
export interface RemoteFile {
  readonly sha256: string;
  readonly size: number;
  /** A document that names it, where it is read. */
  readonly id?: string | undefined;
  /** As `sealed` of `FileRef`. */
  readonly sealed?: string | undefined;
}

/** A SHA-256 of bytes that come in parts. */
interface PartHash {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

/** How files are encrypted for a server that cannot read them. */
export interface FileSealing {
  /**
   * Whether `sealed` says what the server calls a file: under the newest key, where the file is
   * here and not sent. The key of one that the server has may be with others.
   */
  isNamed(file: RemoteFile, isUnsent: boolean): boolean;
  /**
   * What the server is to call a file that is here; one part is in memory.
   *
   * @throws {ReplicationError} `file_damaged` where the parts are not its content.
   */
  name(
    file: RemoteFile,
    partAt: (byte: number) => Promise<Uint8Array<ArrayBuffer> | undefined>,
    newHash: () => PartHash,
  ): Promise<string>;
}

/** What goes with each call about a file. */
export interface FileAsk {
  readonly signal: AbortSignal;
  /** To be called with the bytes of an answer as they come: a slow network has more time then. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** The files of a server. `device` is a secret of this device: the server tells it nobody. */
export interface RemoteFiles {
  /**
   * Whether files travel with the documents that name them: `push` asks for their content, and
   * nothing is sent before.
   */
  readonly areAttached?: boolean;

  /**
   * The bytes that the server has of a file that this device sends; `undefined`: it needs no more.
   */
  received(file: RemoteFile, device: string, ask: FileAsk): Promise<number | undefined>;

  /** Sends the bytes from one on, some or all; resolves as {@link RemoteFiles.received}. */
  send(
    file: RemoteFile,
    device: string,
    from: number,
    bytes: Uint8Array<ArrayBuffer>,
    ask: FileAsk,
  ): Promise<number | undefined>;

  /** The bytes from one on: 1 MiB, or what is left. */
  read(file: RemoteFile, from: number, ask: FileAsk): Promise<Uint8Array<ArrayBuffer>>;

  /** Left out where a server gets files as they are. */
  sealing?(): Promise<FileSealing>;
}

/**
 * A server that one collection replicates with: the adapter interface. It needs two functions.
 * Changes reach the client by `pull` alone; `watch` only says that there are some.
 *
 * Rules for a server:
 *
 * - **Compare-and-set.** It accepts a row if `base` is its newest version, or if `base` is
 *   `undefined` and it has no such document, or a deleted one. Deleting a document that is deleted
 *   or missing is accepted.
 * - **Idempotency.** It remembers with each document the last 8 keys that it accepted. A row whose
 *   key is among them was made before, and is accepted without effect, whatever has become of the
 *   document since. So clients find out, too, whether a push whose answer was lost was applied.
 * - **Order.** A change that becomes visible later has a later place in the order of `pull`: no
 *   reader skips one.
 * - Deleted documents stay as tombstones.
 *
 * @example
 * ```ts
 * const remote: Remote<string> = {
 *   id: 'orders@api.example.com',
 *   pull: (after, { limit, signal }) => call('pull', { after, limit }, signal),
 *   push: (rows, { signal }) => call('push', { rows }, signal),
 * };
 * ```
 */
export interface Remote<Checkpoint = unknown> {
  /** Identity of the server's data, such as `http:https://example.com/sync/orders`. */
  readonly id: string;

  /** Whether `pull` takes scopes. */
  readonly scopes?: boolean;

  /**
   * What replicates where `replicate()` has no scopes, if that is not the whole collection:
   * documents that leave it are removed here.
   */
  readonly defaultScope?: ReplicationScope | undefined;

  /**
   * The changes after a checkpoint, at most `limit`; without a checkpoint from the start. With a
   * scope, those of its documents: one that was sent and is no more in it has `left: true`.
   */
  pull(
    after: Checkpoint | undefined,
    ask: {
      readonly limit: number;
      readonly signal: AbortSignal;
      readonly scope?: ReplicationScope | undefined;
      readonly held?: HeldIds | undefined;
    },
  ): Promise<PulledPage<Checkpoint>>;

  /** Files beside documents; left out: `replicate()` has no option `files`. */
  readonly files?: RemoteFiles | undefined;

  /** Sends local changes; resolves with one result for each, in the same order. */
  push(
    rows: readonly LocalChange[],
    ask: {
      readonly signal: AbortSignal;
      /** For {@link RemoteFiles.areAttached}: the content of a file; `undefined`: nowhere. */
      readonly content?: ((file: RemoteFile) => Promise<Blob | undefined>) | undefined;
    },
  ): Promise<readonly PushResult[]>;

  /**
   * Yields each time the server may have something newer than `after`. With scopes, that is where
   * the first one has come to; `scopes` has all. Where it ends without that, nothing tells for now:
   * `pull` is called after a while, then `watch` again.
   */
  watch?(
    after: Checkpoint,
    ask: {
      readonly signal: AbortSignal;
      readonly scopes?: readonly PulledScope[] | undefined;
    },
  ): AsyncIterable<void>;
}
