import type { Endpoint } from 'comlink';
import type { Clock } from '../async/clock.ts';
import type { DatabaseSettings } from '../protocol/database-settings.ts';
import type { UnloadJournals, UnloadWriter } from '../protocol/recovery-records.ts';
import type { StorageDriver } from '../storage/drivers/driver.ts';
import type { EncryptionModule } from '../storage/encryption/encryption-module.ts';
import type { openOpfs } from '../storage/opfs/open-opfs.ts';

/** Brings ports from one tab to another. */
export interface Switchboard {
  /**
   * Waits for a port from another tab.
   *
   * @param opened Called with the address for other tabs; never where the page's policy forbids
   *   workers from Blobs.
   * @returns ends the wait.
   */
  open(opened: (address: string) => void, brought: (port: MessagePort) => void): () => void;
  /** Brings a port to the tab that waits at an address. */
  bring(address: string, port: MessagePort): void;
}

/** Options of a lock request, as in the Web Locks API. */
export interface LockRequest {
  readonly signal?: AbortSignal;
  readonly ifAvailable?: boolean;
  readonly steal?: boolean;
}

/** The part of the Web Locks API in use. */
export interface Locks {
  request(
    name: string,
    options: LockRequest,
    hold: (lock: unknown) => Promise<unknown> | undefined,
  ): Promise<unknown>;
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>;
}

/** The part of BroadcastChannel in use. */
export interface Broadcast extends Endpoint {
  close(): void;
}

/** Events of the page. Each method returns a function that removes the listener. */
export interface PageLifecycle {
  /** Whether the page is hidden. The end of a hidden page may come without an event. */
  readonly isHidden: boolean;
  /** The page is hidden now. */
  onHidden(listener: () => void): () => void;
  /**
   * The page is about to be left or reloaded, or to stay after all. `undefined` where the engine
   * need not know: Firefox keeps a page that listens out of the back/forward cache.
   */
  readonly onLeaving?: ((listener: () => void) => () => void) | undefined;
  /**
   * The page ends, is frozen or enters the back/forward cache. May be called more than once for one
   * end.
   */
  onLeft(listener: (mayReturn: boolean) => void): () => void;
  /** The page is resumed, or is back from the back/forward cache. */
  onReturned(listener: () => void): () => void;
}

/** The platform of an engine, passed in so that a simulation can replace it. */
export interface EnginePlatform {
  readonly clock: Clock;
  readonly locks: Locks;
  /** Opens a channel to other tabs; `undefined` where there are none. */
  readonly broadcast: ((name: string) => Broadcast) | undefined;
  /** Makes a pair of ports. */
  readonly newPorts: () => MessageChannel;
  /** Storage that all tabs share; `undefined` where there is none. */
  readonly storage: StorageDriver | undefined;
  /** Loads the code of files and of encryption for this thread; `undefined` in a page. */
  readonly storageCode?: () => Promise<EncryptionModule & { readonly openOpfs: typeof openOpfs }>;
  /** Whether the thread is terminated when it hangs: that of a worker. */
  readonly terminable?: boolean;
  /** As the engine has it, unless it is given: a simulation has little data. */
  readonly checkpointAfter?: number;
}

/** The platform of a page and its clients. */
export interface Platform extends EnginePlatform {
  /** Whether the locks exclude other tabs: known once a lock is held. */
  readonly locked: boolean;
  /** `undefined` without a page. */
  readonly page: PageLifecycle | undefined;
  readonly pageWriting: (database: string) => UnloadWriter;
  readonly journals: UnloadJournals;
  /** `undefined` where ports cannot reach other tabs, or are no faster. */
  readonly switchboard: Switchboard | undefined;
  /** A unique name for a client. The part before the dot names the page. */
  newClient(): string;
}

/** Whether all tabs share the database. */
export function isShared({ storage }: DatabaseSettings, platform: EnginePlatform): boolean {
  return storage !== 'memory' && typeof storage !== 'object' && platform.storage !== undefined;
}

/**
 * The server runtime of this process; `undefined` in a browser. Reads no global that only browsers
 * have: constructing must be safe everywhere.
 */
export function serverRuntime(): 'node' | 'bun' | 'deno' | undefined {
  if ('document' in globalThis) return undefined;
  const { process } = globalThis as { process?: { versions?: Record<string, string> } };
  const { node, bun, deno } = process?.versions ?? {};
  // All three report a version of Node.
  if (bun !== undefined) return 'bun';
  if (deno !== undefined) return 'deno';
  return node === undefined ? undefined : 'node';
}
