import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/async/clock.ts';
import {
  type BackupTarget,
  type NamedTarget,
  restoreFrom,
  s3,
  webdav,
} from '../../../src/backup-targets/index.ts';
import { encryptedTarget } from '../../../src/encryption/index.ts';
import { rejection } from '../../contract/outcomes.ts';
import { allAtNight, testAtNight } from '../../setup/at-night.ts';
import { backUpIn, newDatabase, newEnvironment, rowsFrom } from '../device.ts';
import { ServerProcess } from './server-process.ts';

const opened: ServerProcess[] = [];

afterEach(async () => {
  for (const server of opened.splice(0)) await server.remove();
});

const secrets = {
  region: 'eu-central-1',
  accessKeyId: 'test-key',
  secretAccessKey: 'test/secret+key',
};
const authorization = `Basic ${btoa('ada:secret')}`;

interface Kind {
  readonly script: string;
  readonly target: (port: number, change?: object) => NamedTarget;
  readonly wrong: readonly object[];
}

const kinds: Record<string, Kind> = {
  s3: {
    script: './s3-server.mjs',
    target: (port, change) =>
      s3({ url: `http://127.0.0.1:${port}/bucket`, prefix: 'my app/ä+1', ...secrets, ...change }),
    wrong: [{ secretAccessKey: 'x' }, { accessKeyId: 'x' }, { region: 'us-east-1' }],
  },
  webdav: {
    script: './webdav-server.mjs',
    target: (port, change) =>
      webdav({
        url: `http://127.0.0.1:${port}/`,
        headers: async () => ({ authorization }),
        ...change,
      }),
    wrong: [{ headers: {} }, { headers: { authorization: `Basic ${btoa('ada:wrong')}` } }],
  },
};

async function start({ script }: Kind, ...options: string[]): Promise<ServerProcess> {
  const server = new ServerProcess(script);
  opened.push(server);
  return server.start(...options);
}

/** Of all environments: two backups of one second must not get one name. */
let named = 0;

/** Real time, and no delay before another attempt. */
const environment = () => {
  // Small numbers: delays of a millisecond or less, and names that differ.
  return { ...newEnvironment(), clock: systemClock, random: () => ++named / 36 ** 6 };
};

describe.each(Object.entries(kinds))('%s, a server in a process of its own', (name, kind) => {
  test('takes objects, gives them back, lists and removes them', async () => {
    const server = await start(kind, '--page', '2');
    const target = kind.target(server.port);
    expect(target.id).toMatch(new RegExp(`^${name}:http://127.0.0.1:${server.port}/`));
    const bytes = Uint8Array.from({ length: 300_000 }, (_, at) => (at * at) >> 3);
    const small = new Uint8Array([1]);
    expect(await target.list('a/')).toEqual([]);
    expect(await target.get('a/b/none')).toBeUndefined();
    await target.put('a/b/large', bytes);
    for (const path of ['a/b/one.json', 'a/b/two', 'a/c_d-e/three', 'b/four'])
      await target.put(path, small);
    expect((await target.list('a/')).sort()).toEqual([
      ...['a/b/large', 'a/b/one.json', 'a/b/two', 'a/c_d-e/three'],
    ]);
    expect(await target.list('a/c_d-e/')).toEqual(['a/c_d-e/three']);
    expect(await target.get('a/b/large')).toEqual(bytes);
    await target.put('a/b/large', small);
    expect(await target.get('a/b/large')).toEqual(small);
    await target.delete('a/b/large');
    await target.delete('a/b/large');
    expect(await target.get('a/b/large')).toBeUndefined();
    expect(await target.list('a/c_d-e/none/')).toEqual([]);
  });

  test('keeps the backups of two devices that encrypt and begin at once', async () => {
    const server = await start(kind);
    const open = () =>
      encryptedTarget(kind.target(server.port), { key: new Uint8Array(32).fill(5) });
    const runs = ['phone', 'laptop'].map(async (device, at) => {
      const { db, rows } = newDatabase();
      await rows.insertMany(rowsFrom(at * 100, 100));
      const own = { ...environment(), random: Math.random };
      const { name } = await backUpIn(own, db, open(), { device }).run();
      return { name, documents: await rows.filter({}) };
    });
    for (const { name, documents } of await Promise.all(runs)) {
      const other = newDatabase();
      await restoreFrom(open(), { db: other.db, name });
      expect(await other.rows.filter({})).toEqual(documents);
    }
  });

  const testOnce = name === 's3' ? test : testAtNight;
  testOnce?.(
    'killed in the middle of a backup: what is listed restores exactly, and the next run goes on',
    async () => {
      const server = await start(kind);
      const { db, rows } = newDatabase();
      await rows.insertMany(rowsFrom(0, 800));
      const own = kind.target(server.port);
      const device = { device: 'd', timeout: 20 };
      const first = await backUpIn(environment(), db, own, device).run();
      const before = await rows.filter({});
      await rows.insertMany(rowsFrom(800, 3000));
      const after = await rows.filter({});
      const isPart = (path: string) => path.includes('/parts/');
      const isManifest = (path: string) => !isPart(path);
      const kills = [
        [isPart, 1],
        [isPart, 3],
        [isManifest, 1],
      ] as const;
      for (const [kindOf, fatal] of allAtNight(kills, kills.slice(2))) {
        let puts = 0;
        const dying: BackupTarget = {
          ...own,
          async put(path, bytes) {
            const putting = own.put(path, bytes);
            if (kindOf(path) && ++puts === fatal)
              await Promise.allSettled([server.kill(), putting]);
            return putting;
          },
        };
        const running = backUpIn(environment(), db, dying, device).run();
        await Promise.allSettled([running]);
        expect(puts).toBeGreaterThanOrEqual(fatal);
        await server.start();
        const other = newDatabase();
        const list = await backUpIn(environment(), other.db, own).list();
        expect(list.at(-1)?.name).toBe(first.name);
        for (const { name: listed, problem } of list) {
          expect(problem).toBeUndefined();
          await restoreFrom(own, { db: other.db, name: listed });
          expect(await other.rows.filter({})).toEqual(listed === first.name ? before : after);
        }
        // Killed with a part under way it is no backup; with the manifest, it is one or it is none.
        if (kindOf === isPart) expect(list).toHaveLength(1);
      }
      await server.kill();
      await server.start();
      await backUpIn(environment(), db, own, device).run();
      const again = newDatabase();
      await restoreFrom(own, { db: again.db });
      expect(await again.rows.filter({})).toEqual(after);
      await server.kill();
      expect(await rejection(restoreFrom(own, { db: again.db, timeout: 5 }))).toMatchObject({
        code: 'target_unreachable',
      });
      expect(await again.rows.count()).toBe(3800);
    },
  );

  test('two devices with one server keep apart, and each expires its own', async () => {
    const server = await start(kind);
    const devices = ['one', 'two'].map((device) => {
      const shop = newDatabase();
      const options = { device, retention_days: -1 };
      return {
        ...shop,
        remote: backUpIn(environment(), shop.db, kind.target(server.port), options),
      };
    });
    await Promise.all(
      devices.map(async ({ rows, remote }, at) => {
        for (let round = 0; round < 2; round++) {
          await rows.insertMany(rowsFrom(at * 1000 + round * 400, 400));
          await remote.run();
        }
      }),
    );
    const list = (await devices[0]?.remote.list()) ?? [];
    expect(list).toHaveLength(4);
    for (const { name: listed } of list)
      expect(await devices[1]?.remote.verify(listed)).toMatchObject({ whole: true });
    await devices[0]?.remote.forget('two');
    expect(await devices[1]?.remote.list()).toHaveLength(2);
    expect(await devices[0]?.remote.verify()).toMatchObject({ whole: true });
  });

  test('wrong credentials are target_denied, a wrong place target_refused', async () => {
    const server = await start(kind);
    for (const wrong of kind.wrong)
      expect(await rejection(kind.target(server.port, wrong).list('a/'))).toMatchObject({
        code: 'target_denied',
      });
    const url = `http://127.0.0.1:${server.port}/nowhere`;
    expect(await rejection(kind.target(server.port, { url }).list('a/'))).toMatchObject({
      code: 'target_refused',
    });
  });

  test('a server that never answers is given up; one that redirects or breaks off is an error', async () => {
    const answers: Record<string, (response: import('node:http').ServerResponse) => void> = {
      target_unreachable: () => undefined,
      target_refused: (response) =>
        response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    };
    for (const [code, answer] of Object.entries(answers)) {
      const server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      expect(await rejection(kind.target(port, { timeout: 1 }).list('a/'))).toMatchObject({ code });
      server.closeAllConnections();
      server.close();
    }
  });

  test('options are checked, and no secret is in an id', () => {
    const make = (change: object) => () => kind.target(1, change);
    for (const url of ['', 'ftp://a/', 'http://a:b@c/', 'http://a/?b', 'http://[/'])
      expect(make({ url })).toThrow(expect.objectContaining({ place: 'url' }));
    expect(make({ timeout: 0 })).toThrow(expect.objectContaining({ place: 'timeout' }));
    expect(make({ fetch: 1 })).toThrow(expect.objectContaining({ place: 'fetch' }));
    expect(kind.target(1).id).not.toMatch(/secret|test-key/);
  });
});

test('a bucket that runs full: target_full, and the older backup stays', async () => {
  const kind = kinds.s3 as Kind;
  const server = await start(kind, '--full', '300000');
  const { db, rows } = newDatabase();
  await rows.insertMany(rowsFrom(0, 400));
  const remote = backUpIn(environment(), db, kind.target(server.port), { device: 'd' });
  await remote.run();
  await rows.insertMany(rowsFrom(400, 4000));
  expect(await rejection(remote.run())).toMatchObject({ code: 'target_full' });
  expect(await remote.list()).toHaveLength(1);
  expect(await remote.verify()).toMatchObject({ whole: true });
});
