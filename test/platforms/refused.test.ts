import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DatabaseClient } from '../../src/index.ts';
import { GlobalsOfPage } from './page-globals.ts';
import { REFUSALS } from './refusals.ts';

type Library = typeof import('../../src/index.ts') & typeof import('../contract/fake-worker.ts');

/** Both ways in; that of a worker also where it has to start one, and none starts. */
const DOORS: Readonly<Record<string, (lib: Library, name: string) => DatabaseClient>> = {
  Database: (lib, name) => new lib.Database({ name }),
  'connect with a worker': (lib, name) => lib.connect({ name, worker: lib.fakeWorker }),
  connect: (lib, name) => lib.connect({ name }),
};

let page: GlobalsOfPage;
let names = 0;

beforeEach(() => {
  page = new GlobalsOfPage();
  // Read anew by each page.
  vi.resetModules();
});

afterEach(() => {
  page.restore();
  // Other files share the modules, which have this page.
  vi.resetModules();
  vi.restoreAllMocks();
});

describe.each(Object.entries(DOORS))('%s', (_door, open) => {
  test.each(REFUSALS)('works where $title', async ({ apply, inMemory }) => {
    apply(page);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const lib = {
      ...(await import('../../src/index.ts')),
      ...(await import('../contract/fake-worker.ts')),
    };
    const db = open(lib, `refused ${++names}`);
    const things = new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
    const live = things.live({});
    await live.ready;
    await things.insert({ _id: 'a' });
    await db.transaction((tx) => tx(things).insert({ _id: 'b' }));
    expect(await things.filter({})).toMatchObject([{ _id: 'a' }, { _id: 'b' }]);
    await db.save();
    expect(db.status.storage).toBe(inMemory ? 'memory' : 'indexeddb');
    expect(typeof db.status.storage_reason).toBe(inMemory ? 'string' : 'undefined');
    const said = warn.mock.calls.filter(([text]) => String(text).includes('in memory only'));
    expect(said.length).toBe(inMemory ? 1 : 0);
    await db.storage.estimate();
    await db.storage.persist();
    await db.storage.status;
    expect(document.dispatchEvent(new Event('visibilitychange'))).toBe(true);
    expect(dispatchEvent(new Event('pagehide'))).toBe(true);
    dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    expect(await things.count()).toBe(2);
    await db.destroy();
    expect(db.status.state).toBe('closed');
  });
});
