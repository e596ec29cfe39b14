import { afterEach, expect, test, vi } from 'vitest';

type Hook = () => unknown;

let before: Hook[];
let after: Hook[];

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** The kit, as it loads where the runner has global hooks. */
function loadKit(currentTestName?: string): Promise<typeof import('../../src/testing/index.ts')> {
  [before, after] = [[], []];
  vi.stubGlobal('beforeEach', (hook: Hook) => before.push(hook));
  vi.stubGlobal('afterEach', (hook: Hook) => after.push(hook));
  vi.stubGlobal('expect', { getState: () => ({ currentTestName }) });
  vi.resetModules();
  return import('../../src/testing/index.ts');
}

const run = async (hooks: readonly Hook[]) => {
  for (const hook of hooks) await hook();
};

test('a test closes the databases that it has opened, and no others', async () => {
  const { testDatabase, testBrowser } = await loadKit();
  const ofFile = testDatabase();
  await run(before);
  const own = testDatabase();
  const tab = testBrowser().openTab();
  const concurrent = testDatabase({ auto_close: false });
  const all = [ofFile, own, tab, concurrent];
  await Promise.all(all.map((db) => db.ready));
  own.disk.fail();
  await run(after);
  const states = all.map((db) => db.status.state);
  expect(states).toEqual(['open', 'closed', 'closed', 'open']);
  await Promise.all([ofFile.close(), concurrent.close()]);
});

test('a database that cannot be closed fails its own test only', async () => {
  const { testDatabase } = await loadKit();
  await run(before);
  const stuck = testDatabase({
    storage: {
      kind: 'stuck',
      open: async () => ({
        getMany: async (_, keys) => keys.map(() => undefined),
        list: async () => [],
        keys: async () => [],
        write: () => Promise.reject(new Error('never')),
        close: async () => undefined,
      }),
    },
  });
  await new stuck.Collection({ name: 'a', type: 'DOCUMENT_BASED' }).insert({});
  await expect(run(after)).rejects.toThrow('never');
  await run(before);
  await run(after);
});

test('loaded inside of a test, it registers no hooks: Jest forbids them there', async () => {
  await loadKit('a test');
  expect([before, after]).toEqual([[], []]);
});
