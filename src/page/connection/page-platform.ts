import { enginePlatform } from '../../platform/engine-platform.ts';
import { PageLocks } from '../../platform/page-locks.ts';
import type { PageLifecycle, Platform } from '../../platform/platform.ts';
import { platformObject } from '../../platform/platform-object.ts';
import type { UnloadJournals } from '../../protocol/recovery-records.ts';
import { deletableIndexedDb } from '../../storage/drivers/deletable-indexeddb.ts';
import { PageUnloadWriter } from '../unload/recovery-record.ts';
import { unloadJournals } from '../unload/unload-journal.ts';
import { sharedWorkerSwitchboard } from './switchboard.ts';

const scope = globalThis as typeof globalThis & { document?: Document };
const PAGE = Math.random().toString(36).slice(2) + Date.now().toString(36);
const locks = new PageLocks();
const driver = deletableIndexedDb();
let clients = 0;

/** For Node, whose pages never end, and which warns when its `localStorage` is accessed. */
const noJournals: UnloadJournals = {
  write: () => 0,
  read: () => [],
  forget: () => undefined,
  clear: () => undefined,
  onWritten: () => () => undefined,
};

/** The platform of a client in a page, or in Node. */
export const pagePlatform: Platform = {
  clock: enginePlatform.clock,
  newPorts: enginePlatform.newPorts,
  locks,
  get locked() {
    // Node has no other tabs.
    return locks.areShared || !scope.document;
  },
  get broadcast() {
    return locks.areShared ? enginePlatform.broadcast : undefined;
  },
  get storage() {
    return enginePlatform.storage && driver;
  },
  pageWriting: (database) => new PageUnloadWriter(database),
  journals: scope.document ? unloadJournals : noJournals,
  switchboard: hasFastPorts() ? sharedWorkerSwitchboard : undefined,
  page: scope.document && typeof scope.addEventListener === 'function' ? pageLife() : undefined,
  newClient: () => `${PAGE}.${++clients}`,
};

/**
 * In Chromium only: a port is no faster than a BroadcastChannel in Firefox, and slower in WebKit.
 */
function hasFastPorts(): boolean {
  const { userAgentData } = (platformObject('navigator') ?? {}) as { userAgentData?: unknown };
  return platformObject('SharedWorker') !== undefined && userAgentData !== undefined;
}

/** WebKit's version in `userAgent` never changes, and other engines claim another. */
function isWebKit(): boolean {
  return /AppleWebKit\/605/.test(platformObject('navigator')?.userAgent ?? '');
}

function pageLife(): PageLifecycle {
  const on = (
    target: EventTarget,
    type: string,
    listener: (event: Event) => void,
    capture = false,
  ) => {
    target.addEventListener(type, listener, capture);
    return () => target.removeEventListener(type, listener, capture);
  };
  const all = (stops: readonly (() => void)[]) => () => {
    for (const stop of stops) stop();
  };
  const document = scope.document as Document;
  return {
    get isHidden() {
      return document.visibilityState === 'hidden';
    },
    onHidden: (listener) => {
      const changed = () => document.visibilityState === 'hidden' && listener();
      // Before the listeners of the app: a browser that quits may end the page amid them.
      return on(document, 'visibilitychange', changed, true);
    },
    onLeaving: isWebKit() ? (listener) => on(scope, 'beforeunload', listener) : undefined,
    onLeft: (listener) => {
      const left = (event: Event) => listener((event as PageTransitionEvent).persisted);
      return all([
        // Twice: when Firefox closes the last tab of a site, it ends the running script anywhere,
        // then calls the next listener.
        on(scope, 'pagehide', left, true),
        on(scope, 'pagehide', left),
        // In Chromium a frozen page still answers messages, while its storage hangs.
        on(document, 'freeze', () => listener(true)),
      ]);
    },
    onReturned: (listener) =>
      all([
        on(scope, 'pageshow', (event) => (event as PageTransitionEvent).persisted && listener()),
        on(document, 'resume', () => listener()),
      ]),
  };
}
