import { isDeepStrictEqual } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import type { DatabaseClient } from '../../src/index.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { rejection } from '../contract/outcomes.ts';
import { openClient } from '../engine/engine-client.ts';
import { settled } from '../engine/fake-clock.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { readStored } from './stored.ts';

const documents = (client: DatabaseClient, name: string) =>
  new client.Collection<any>({ name, type: 'DOCUMENT_BASED', activate_drop_method: true });
const keyValues = (client: DatabaseClient, name: string) =>
  new client.Collection({ name, type: 'KEY_VALUE_BASED' });

/** A file of three collections, the second of several writes. */
async function fileOfThree(): Promise<Blob> {
  const { client } = openClient(faultyDriver());
  await documents(client, 'first').insert({ _id: 'a' });
  const pad = 'p'.repeat(90_000);
  await documents(client, 'things').insertMany(
    Array.from({ length: 30 }, (_, n) => ({ _id: `d${n}`, pad })),
  );
  await keyValues(client, 'values').set('k', 1);
  const file = await new Response(await client.exportAll()).blob();
  await client.close();
  return file;
}

/**
 * The contents without the epoch, which the first write of an engine claims, and empty lists of
 * backups.
 */
async function stored(driver: StorageDriver) {
  const all = await readStored(driver);
  const snapshots = all.snapshots.filter(([, { names }]) => names?.length !== 0);
  return { ...all, snapshots, leadership: [] };
}

/** What a database may hold before an import. */
const states: Record<string, (client: DatabaseClient) => Promise<unknown>> = {
  nothing: async () => undefined,
  'handles that have stored nothing': async (client) => {
    await Promise.all([documents(client, 'first').ready, documents(client, 'things').ready]);
  },
  'a collection that was dropped': async (client) => {
    const things = documents(client, 'things');
    await things.insert({ _id: 'old' });
    await things.save();
    await things.Drop();
  },
  'a backup that has survived a drop': async (client) => {
    const things = documents(client, 'things');
    await things.insert({ _id: 'old' });
    await things.Drop({ backup: true });
  },
  'other documents': async (client) => {
    const things = documents(client, 'things');
    await things.insert({ _id: 'old' });
    await things.save();
  },
};

describe.each(Object.entries(states))('a refused import into %s', (_, prepare) => {
  let opened: DatabaseClient | undefined;
  afterEach(() => opened?.close());

  async function prepared() {
    const driver = faultyDriver();
    const { client } = openClient(driver);
    opened = client;
    await prepare(client);
    await settled();
    return { driver, client, before: await stored(driver) };
  }

  /** Nothing is left, and no name has got a type. */
  async function expectUntouched({ driver, client, before }: Awaited<ReturnType<typeof prepared>>) {
    // The call rejects before all is removed.
    for (let turn = 0; turn < 300; turn++) {
      if (isDeepStrictEqual(await stored(driver), before)) break;
      await settled();
    }
    expect(await stored(driver)).toEqual(before);
    const other = keyValues(client, 'first-of-another-type');
    await other.set('k', 1);
    const values = documents(client, 'values');
    await values.insert({ _id: 'v' });
    expect(await values.verify()).toMatchObject({ whole: true });
    const things = documents(client, 'things');
    await things.insert({ _id: 'new' });
    expect(await things.verify()).toMatchObject({ whole: true });
  }

  test.each([0.2, 0.6, 0.999])(
    'leaves nothing where the file ends after %d of it',
    async (share) => {
      const file = await fileOfThree();
      const world = await prepared();
      const error = await rejection(
        world.client.importAll(file.slice(0, Math.floor(file.size * share))),
      );
      expect(error).toMatchObject({ name: 'BackupError' });
      await expectUntouched(world);
    },
  );

  test('leaves nothing where a later collection has another type', async () => {
    const file = await fileOfThree();
    const world = await prepared();
    const held = documents(world.client, 'values');
    await held.ready;
    const error = await rejection(world.client.importAll(file));
    expect(error).toMatchObject({ code: 'type_mismatch' });
    await expectUntouched(world);
  });

  test('leaves nothing where the file of one collection ends early', async () => {
    const source = openClient(faultyDriver()).client;
    const things = documents(source, 'things');
    await things.insertMany([{ _id: 'a' }, { _id: 'b' }]);
    const stream = await things.exportBackup(await things.createBackup());
    const file = await new Response(stream).blob();
    await source.close();
    const world = await prepared();
    const target = documents(world.client, 'things');
    await target.ready;
    const error = await rejection(target.importBackup(file.slice(0, file.size - 9)));
    expect(error).toMatchObject({ name: 'BackupError' });
    await expectUntouched(world);
  });

  test.each(['before', 'after'] as const)(
    'leaves nothing where a write fails, %s it takes effect',
    async (when) => {
      const file = await fileOfThree();
      for (let after = 0; ; after++) {
        const world = await prepared();
        const writes = world.driver.calls.write;
        world.driver.inject({ call: 'write', when, after, times: 1 });
        const isRefused = await world.client.importAll(file).then(
          () => false,
          () => true,
        );
        // What comes behind the last write of the import is not part of it.
        if (!isRefused) {
          expect(after).toBeGreaterThan(2);
          break;
        }
        expect(world.driver.calls.write).toBeGreaterThan(writes);
        world.driver.heal();
        await expectUntouched(world);
        await world.client.close();
      }
    },
  );

  test('which is aborted, leaves nothing', async () => {
    const file = await fileOfThree();
    const world = await prepared();
    const abort = new AbortController();
    const importing = rejection(
      world.client.importAll(file, {
        signal: abort.signal,
        progress: ({ documents: read }) => {
          if (read > 1) abort.abort();
        },
      }),
    );
    expect(await importing).toBeDefined();
    await expectUntouched(world);
  });
});

describe('a schema or a migration does not meet what is refused as a whole', () => {
  const refuses = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: () => ({ issues: [{ message: 'no', path: [] }] }),
    },
  } as const;
  const fails = {
    version: 2,
    migrate: {
      2: () => {
        throw new Error('no');
      },
    },
  };

  test.each([
    ['schema', { schema: refuses }],
    ['migration', fails],
  ] as const)('%s: a file of several collections', async (_, options) => {
    const { client } = openClient(faultyDriver());
    const source = openClient(faultyDriver()).client;
    await documents(source, 'first').ready;
    await keyValues(source, 'values').set('k', 1);
    const file = await new Response(await source.exportAll()).blob();
    const first = new client.Collection<any>({ name: 'first', type: 'DOCUMENT_BASED', ...options });
    expect(await rejection(first.importBackup(file))).toMatchObject({ code: 'file_several' });
    await Promise.all([client.close(), source.close()]);
  });

  test.each([
    ['schema', { schema: refuses }],
    ['migration', fails],
  ] as const)('%s: a file of another type', async (_, options) => {
    const { client } = openClient(faultyDriver());
    const source = openClient(faultyDriver()).client;
    const values = keyValues(source, 'values');
    await values.set('k', 1);
    const stream = await values.exportBackup(await values.createBackup());
    const file = await new Response(stream).blob();
    const first = new client.Collection<any>({ name: 'first', type: 'DOCUMENT_BASED', ...options });
    expect(await rejection(first.importBackup(file))).toMatchObject({ code: 'type_mismatch' });
    await Promise.all([client.close(), source.close()]);
  });
});
