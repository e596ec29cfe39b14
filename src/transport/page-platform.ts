import { enginePlatform } from './engine-platform.ts';
import { pageJournals } from './page-journal.ts';
import { PageRecord } from './page-record.ts';
import type { PageJournals, PageLife, Platform } from './platform.ts';
import { sharedWorkerSwitchboard } from './tabs/switchboard.ts';

const scope = globalThis as typeof globalThis & { document?: Document };
const PAGE = Math.random().toString(36).slice(2) + Date.now().toString(36);
let clients = 0;

/** Without a page there is nothing to end; and Node warns of those who ask for its `localStorage`. */
const noJournals: PageJournals = {
  write: () => false,
  read: () => [],
  forget: () => undefined,
  onWritten: () => () => undefined,
};

/** What a page has, or Node. */
export const pagePlatform: Platform = {
  ...enginePlatform,
  get storage() {
    return enginePlatform.storage;
  },
  pageWriting: (database) => new PageRecord(database),
  journals: scope.document ? pageJournals : noJournals,
  switchboard: hasFastPorts() ? sharedWorkerSwitchboard : undefined,
  page: scope.document && typeof scope.addEventListener === 'function' ? pageLife() : undefined,
  newClient: () => `${PAGE}.${++clients}`,
};

/** In Chromium, by whose own API it is known: in Firefox a port is no faster than a BroadcastChannel, in WebKit it is slower. */
function hasFastPorts(): boolean {
  return typeof SharedWorker !== 'undefined' && 'userAgentData' in scope.navigator;
}

function pageLife(): PageLife {
  const on = (target: EventTarget, type: string, listener: (event: Event) => void) => {
    target.addEventListener(type, listener);
    return () => target.removeEventListener(type, listener);
  };
  const all = (stops: readonly (() => void)[]) => () => {
    for (const stop of stops) stop();
  };
  const document = scope.document as Document;
  return {
    onHidden: (listener) =>
      on(document, 'visibilitychange', () => document.visibilityState === 'hidden' && listener()),
    onLeft: (listener) =>
      all([
        on(scope, 'pagehide', (event) => listener((event as PageTransitionEvent).persisted)),
        // A page that is frozen where it is still answers messages in Chromium, while its storage does not.
        on(document, 'freeze', () => listener(true)),
      ]),
    onReturned: (listener) =>
      all([
        on(scope, 'pageshow', (event) => (event as PageTransitionEvent).persisted && listener()),
        on(document, 'resume', () => listener()),
      ]),
  };
}
