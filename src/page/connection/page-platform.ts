import { bringPorts } from '../../platform/bring-ports.ts';
import { enginePlatform } from '../../platform/engine-platform.ts';
import { PageLocks } from '../../platform/page-locks.ts';
import type { PageLifecycle, Platform, Switchboard } from '../../platform/platform.ts';
import { platformObject } from '../../platform/platform-object.ts';
import type { UnloadJournals } from '../../protocol/recovery-records.ts';
import { deletableIndexedDb } from '../../storage/drivers/deletable-indexeddb.ts';
import { PageUnloadWriter } from '../unload/recovery-record.ts';
import { unloadJournals } from '../unload/unload-journal.ts';
import type { WorkerFile } from './worker/worker-scripts.ts';

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

/**
 * One SharedWorker per port: nothing else brings a port to another tab. Its script is the file of a
 * worker, or a Blob, which a strict content security policy refuses. The address is what makes it:
 * `SharedWorker`'s arguments as JSON, or the URL of the Blob, which is unique as it is.
 * docs/decisions/017-tabs.md says when a port is faster.
 */
const sharedWorkerSwitchboard: Switchboard = {
  open(opened, brought) {
    let isOver = false;
    let end = (): void => {
      isOver = true;
    };
    scriptAddress().then((address) => {
      if (isOver) return URL.revokeObjectURL(address);
      const worker = reach(address);
      end = () => {
        URL.revokeObjectURL(address);
        worker?.postMessage(0);
        worker?.close();
      };
      worker?.addEventListener('message', ({ ports: [port] }) => {
        if (!port) return opened(address);
        end();
        brought(port);
      });
      worker?.start();
    }, ignore);
    return () => end();
  },
  bring(address, port) {
    reach(address)?.postMessage(0, [port]);
  },
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

/** In Chromium only: elsewhere a port is no faster than a BroadcastChannel. */
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

async function scriptAddress(): Promise<string> {
  const file = await fileOfWorker();
  if (file) {
    const options = { type: file.type, name: `cairn:${crypto.randomUUID()}` };
    return JSON.stringify([file.url, options]);
  }
  return URL.createObjectURL(new Blob([`(${bringPorts})(self)`], { type: 'text/javascript' }));
}

async function fileOfWorker(): Promise<WorkerFile | undefined> {
  try {
    // On demand: Jest's CommonJS cannot read `import.meta`.
    const { fileScripts, hasPageOrigin, workerFile } = await import('./worker/worker-scripts.ts');
    const file = workerFile(fileScripts);
    return file && hasPageOrigin(file.url) ? file : undefined;
  } catch {
    return undefined; // offline, and not cached: a Blob needs no request
  }
}

/** Without a script the tabs keep their BroadcastChannel. */
const ignore = () => undefined;

/** If this fails, the tabs keep their BroadcastChannel. */
function reach(address: string): MessagePort | undefined {
  try {
    const [url, options] = address.startsWith('[') ? JSON.parse(address) : [address];
    return new SharedWorker(url, options).port;
  } catch {
    return undefined;
  }
}
