import type { Endpoint } from 'comlink';
import { type Clock, systemClock } from '../engine/clock.ts';
import { ThreadLocks } from './lead/thread-locks.ts';

/** How a lock is asked for, as in the Web Locks API. */
export interface LockRequest {
  readonly signal?: AbortSignal;
  readonly ifAvailable?: boolean;
  readonly steal?: boolean;
}

/** What is used of the Web Locks API. */
export interface Locks {
  request(
    name: string,
    options: LockRequest,
    hold: (lock: unknown) => Promise<unknown> | undefined,
  ): Promise<unknown>;
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>;
}

/** What is used of a BroadcastChannel. */
export interface Broadcast extends Endpoint {
  close(): void;
}

/** What becomes of the page. Functions that are returned end the listening. */
export interface PageLife {
  /** It may never be seen again. */
  onHidden(listener: () => void): () => void;
  /** It ends, or rests for as long as the user may come back to it. */
  onLeft(listener: (mayReturn: boolean) => void): () => void;
  /** It is back. */
  onReturned(listener: () => void): () => void;
}

/** What a page or a thread stands on, given so that a simulation can stand in for it. */
export interface Platform {
  readonly clock: Clock;
  readonly locks: Locks;
  /** Whether the locks keep other tabs out. */
  readonly locked: boolean;
  /** Messages to other tabs; `undefined` where there are none. */
  readonly broadcast: ((name: string) => Broadcast) | undefined;
  /** `undefined` where there is no page. */
  readonly page: PageLife | undefined;
  /** A name for a client that no other has, in any tab. What comes before the dot is common to the page. */
  newClient(): string;
}

const scope = globalThis as typeof globalThis & { document?: Document };
const webLocks = (scope.navigator as { locks?: Locks } | undefined)?.locks;
const PAGE = Math.random().toString(36).slice(2) + Date.now().toString(36);
let clients = 0;

export const systemPlatform: Platform = {
  clock: systemClock,
  locks: webLocks ?? new ThreadLocks(),
  // Without a page there are no other tabs: this is Node.
  locked: webLocks !== undefined || scope.document === undefined,
  broadcast:
    webLocks && typeof BroadcastChannel !== 'undefined'
      ? (name) => new BroadcastChannel(name) as unknown as Broadcast
      : undefined,
  page: scope.document && typeof scope.addEventListener === 'function' ? pageLife() : undefined,
  newClient: () => `${PAGE}.${++clients}`,
};

function pageLife(): PageLife {
  const on = (target: EventTarget, type: string, listener: (event: Event) => void) => {
    target.addEventListener(type, listener);
    return () => target.removeEventListener(type, listener);
  };
  const document = scope.document as Document;
  return {
    onHidden: (listener) =>
      on(document, 'visibilitychange', () => document.visibilityState === 'hidden' && listener()),
    onLeft: (listener) =>
      on(scope, 'pagehide', (event) => listener((event as PageTransitionEvent).persisted)),
    onReturned: (listener) =>
      on(scope, 'pageshow', (event) => (event as PageTransitionEvent).persisted && listener()),
  };
}
