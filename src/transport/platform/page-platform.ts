import { sharedWorkerSwitchboard } from '../tabs/switchboard.ts';
import { PageUnloadWriter } from '../unload/recovery-record.ts';
import { unloadJournals } from '../unload/unload-journal.ts';
import { enginePlatform } from './engine-platform.ts';
import type { PageLifecycle, Platform, UnloadJournals } from './platform.ts';

const scope = globalThis as typeof globalThis & { document?: Document };
const PAGE = Math.random().toString(36).slice(2) + Date.now().toString(36);
let clients = 0;

/** Without a page there is nothing to end; and Node warns of those who ask for its `localStorage`. */
const noJournals: UnloadJournals = {
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
  pageWriting: (database) => new PageUnloadWriter(database),
  journals: scope.document ? unloadJournals : noJournals,
  switchboard: hasFastPorts() ? sharedWorkerSwitchboard : undefined,
  page: scope.document && typeof scope.addEventListener === 'function' ? pageLife() : undefined,
  newClient: () => `${PAGE}.${++clients}`,
};

/** In Chromium, by whose own API it is known: in Firefox a port is no faster than a BroadcastChannel, in WebKit it is slower. */
function hasFastPorts(): boolean {
  return typeof SharedWorker !== 'undefined' && 'userAgentData' in scope.navigator;
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
    onHidden: (listener) =>
      on(document, 'visibilitychange', () => document.visibilityState === 'hidden' && listener()),
    onLeft: (listener) => {
      const left = (event: Event) => listener((event as PageTransitionEvent).persisted);
      return all([
        // Twice: Firefox, when it closes the last tab of a site, ends the script that runs in that moment, wherever it
        // is, and goes on with the next listener.
        on(scope, 'pagehide', left, true),
        on(scope, 'pagehide', left),
        // A page that is frozen where it is still answers messages in Chromium, while its storage does not.
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
