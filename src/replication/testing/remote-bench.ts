import { sameValue } from '../../codec/same-value.ts';
import type {
  LocalChange,
  PulledPage,
  PushResult,
  Remote,
  RemoteChange,
  ReplicationScope,
} from '../protocol/remote.ts';

/** What an adapter may do without. */
export type RemoteAbility = 'keys' | 'reset' | 'scopes' | 'watch';

/** A remote over data of its own, which one test of the suite gets. */
export interface OpenedRemote {
  /** Over a server without documents. */
  readonly remote: Remote;
  /** Creates the data of the server anew, without documents, at the same place. */
  recreate?(): Promise<void>;
  /** A scope of the server, with fields of a document that it has, and of one that it has not. */
  readonly scope?: {
    readonly ask: ReplicationScope;
    readonly inside: object;
    readonly outside: object;
  };
  /** Ends what the test has opened. */
  close?(): Promise<void> | void;
}

/** The remote that a suite is for. */
export interface RemoteSubject {
  readonly name: string;
  /** Called for each test. */
  open(): Promise<OpenedRemote> | OpenedRemote;
  /**
   * - `keys`: the server remembers no idempotency keys.
   * - `reset`: it does not notice that its data were created anew.
   * - `scopes`, `watch`: the remote has none.
   */
  readonly lacks?: readonly RemoteAbility[];
}

/** A test before it has a remote. */
export interface OpenedCase {
  readonly name: string;
  readonly needs?: RemoteAbility;
  readonly run: (opened: OpenedRemote, subject: RemoteSubject) => Promise<void>;
}

/** A client that has pulled to some place. */
export class PullingClient {
  readonly #remote: Remote;
  readonly #scope: ReplicationScope | undefined;
  /** The newest state of each document. */
  readonly held = new Map<string, RemoteChange>();
  checkpoint: unknown;
  wasReset = false;

  constructor(remote: Remote, scope?: ReplicationScope) {
    this.#remote = remote;
    this.#scope = scope;
  }

  /** One page. Checkpoints are stored as JSON, and so they go through it. */
  async page(limit = 100): Promise<PulledPage<unknown>> {
    const page = await this.#remote.pull(this.checkpoint, {
      ...{ limit, signal: new AbortController().signal },
      ...(this.#scope && { scope: this.#scope }),
    });
    if (page.changes.length > limit)
      throw new Error(`pull(): at most ${limit} changes, got ${page.changes.length}.`);
    if (page.more && sameValue(page.checkpoint, this.checkpoint))
      throw new Error('pull(): more: true with the checkpoint that it was given never ends.');
    const json = JSON.stringify(page.checkpoint);
    if (json === undefined) throw new Error('pull(): the checkpoint must be JSON.');
    if (page.reset) {
      this.wasReset = true;
      this.held.clear();
    }
    for (const change of page.changes) {
      checkVersion('pull()', change.version);
      this.held.set(change.id, change);
    }
    this.checkpoint = JSON.parse(json);
    return page;
  }

  /** All pages. */
  async pull(limit = 100): Promise<this> {
    while ((await this.page(limit)).more);
    return this;
  }

  /** The documents that are not deleted, by id. */
  documents(): Record<string, object> {
    const all = [...this.held.values()].flatMap(({ id, document }) =>
      document ? [[id, document] as const] : [],
    );
    return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

let keys = 0;

/** An idempotency key that no other push has. */
export function newKey(replica = 'suite'): string {
  return `${replica}.${++keys}x${Math.random().toString(36).slice(2)}`;
}

/** A row with a document of these fields; `undefined` deletes it. */
export function rowOf(
  id: string,
  fields: object | undefined,
  base?: string,
  key = newKey(),
): LocalChange {
  return { id, base, key, document: fields && { _id: id, ...fields } };
}

/** Pushes rows, and checks that there is a result for each. */
export async function pushAll(
  remote: Remote,
  ...rows: readonly LocalChange[]
): Promise<readonly PushResult[]> {
  const results = await remote.push(rows, { signal: new AbortController().signal });
  if (!Array.isArray(results) || results.length !== rows.length)
    throw new Error(`push(): expected ${rows.length} results, one for each row, in their order.`);
  return results;
}

/** The version that an accepted push has. */
export function acceptedVersion(what: string, result: PushResult | undefined): string {
  if (result && 'version' in result) return checkVersion(what, result.version);
  throw new Error(`${what}: expected { version }, got ${show(result)}.`);
}

/** The state in a conflict. */
export function conflictOf(what: string, result: PushResult | undefined): RemoteChange {
  if (!result || !('conflict' in result))
    throw new Error(`${what}: expected { conflict }, got ${show(result)}.`);
  checkVersion(what, result.conflict.version);
  return result.conflict;
}

/** Pushes one row that must be accepted. */
export async function accept(remote: Remote, row: LocalChange): Promise<string> {
  const [result] = await pushAll(remote, row);
  return acceptedVersion(`the push of "${row.id}"`, result);
}

/** @throws {Error} unless two values are equal. */
export function expectSame(what: string, actual: unknown, expected: unknown): void {
  if (!sameValue(actual, expected))
    throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}.`);
}

function checkVersion(what: string, version: unknown): string {
  if (typeof version === 'string' && version.length > 0 && version.length <= 1024) return version;
  throw new Error(`${what}: a version is a string of 1 to 1,024 characters, got ${show(version)}.`);
}

function show(value: unknown): string {
  const text = String(
    JSON.stringify(value, (_, part: unknown) =>
      typeof part === 'bigint' || part === undefined ? String(part) : part,
    ),
  );
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
