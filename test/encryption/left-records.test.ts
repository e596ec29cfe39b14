import { describe, expect, test, vi } from 'vitest';
import { AppKey } from '../../src/encryption/app-key.ts';
import { PageSealing } from '../../src/encryption/encrypted.ts';
import { encrypted } from '../../src/encryption/index.ts';
import { PageKeys } from '../../src/encryption/page-keys.ts';
import { Database } from '../../src/index.ts';
import type { RecoveryRecord } from '../../src/protocol/recovery-records.ts';
import { plainSettings } from '../../src/protocol/settings.ts';
import { DATABASE_ID, databaseIdOf } from '../../src/storage/drivers/database-id.ts';
import { indexedDbDriver } from '../../src/storage/drivers/indexeddb-driver.ts';
import { deriveKeys } from '../../src/storage/encryption/data-keys.ts';
import { readRaw, writeRaw } from './raw-values.ts';

const driver = indexedDbDriver();
const insert = { op: 'insert', handle: 1, id: 'old', body: '{}' };

/** What a page leaves of an unsaved insert. */
const recordOf = (database: string | undefined): RecoveryRecord => ({
  ...{ client: 'page.1', ending: 1, database },
  opened: [[1, plainSettings('a', 'DOCUMENT_BASED')]],
  changes: [{ number: 1, turn: 1, request: insert }] as never,
});

async function sealed(record: RecoveryRecord): Promise<object> {
  const keys = new PageKeys(AppKey.of(new Uint8Array(32), 'key'));
  vi.spyOn(keys, 'dataKeys').mockResolvedValue(await deriveKeys(new Uint8Array(32).fill(7)));
  const sealing = new PageSealing('left', keys);
  await sealing.pending;
  await sealing.seal(record);
  const [form] = sealing.forms(record, false);
  return form?.value as object;
}

/** Where a page that was frozen meanwhile puts its record. */
const leave = (name: string, value: object) =>
  writeRaw(driver, name, [{ store: 'recovery', key: ['page.1', 1], value }]);

const isLeft = async (name: string) =>
  (await readRaw(driver, name)).some(({ key }) => key[0] === 'page.1');

const idOf = async (name: string) => {
  const all = await readRaw(driver, name);
  return databaseIdOf(all.find(({ key }) => key[0] === DATABASE_ID[0])?.value);
};

const DOORS = {
  encrypted: encrypted('indexeddb', { key: new Uint8Array(32).fill(1) }),
  'in clear': 'indexeddb',
} as const;

let names = 0;

function open(door: keyof typeof DOORS, name: string) {
  const db = new Database({ name, storage: DOORS[door] });
  const codes: string[] = [];
  db.on('error', ({ error }) => codes.push(error.code));
  return { db, codes, things: new db.Collection({ name: 'a', type: 'DOCUMENT_BASED' }) };
}

const RECORDS = { sealed, 'in clear': async (record: RecoveryRecord) => record };

describe.each(Object.keys(DOORS) as (keyof typeof DOORS)[])('a database %s', (door) => {
  describe.each(Object.entries(RECORDS))('what was left %s', (_kind, make) => {
    test('of one that was destroyed before it was made is forgotten', async () => {
      const name = `left ${++names}`;
      await leave(name, await make(recordOf('destroyed')));
      const { db, codes, things } = open(door, name);
      await things.insert({ _id: 'new' });
      expect((await things.filter({})).map(({ _id }) => _id)).toEqual(['new']);
      await db.close();
      expect([codes, await isLeft(name)]).toEqual([[], false]);
    });

    test('of one that was destroyed, by a page that wakes up later, is forgotten', async () => {
      const name = `left ${++names}`;
      const first = open(door, name);
      await first.things.insert({ _id: 'new' });
      await first.db.close();
      await leave(name, await make(recordOf('destroyed')));
      const { db, codes, things } = open(door, name);
      expect((await things.filter({})).map(({ _id }) => _id)).toEqual(['new']);
      await db.close();
      expect([codes, await isLeft(name)]).toEqual([[], false]);
    });
  });
});

test.each(['own', undefined])(
  'a record in clear whose id is %s is not applied to an encrypted database',
  async (id) => {
    const name = `left ${++names}`;
    const unmade = async () => {
      await leave(name, recordOf(id && (await idOf(name))));
      const { db, things } = open('encrypted', name);
      return things.count().finally(() => db.close().catch(() => undefined));
    };
    // Its changes are of a database in clear.
    await expect(unmade()).rejects.toMatchObject({ code: 'not_encrypted' });
    await writeRaw(driver, name, [{ store: 'recovery', key: ['page.1', 1], value: undefined }]);
    const first = open('encrypted', name);
    await first.things.insert({ _id: 'new' });
    await first.db.close();
    await leave(name, recordOf(id && (await idOf(name))));
    const { db, codes, things } = open('encrypted', name);
    expect((await things.filter({})).map(({ _id }) => _id)).toEqual(['new']);
    await db.close();
    expect([codes, await isLeft(name)]).toEqual([['data_damaged'], true]);
  },
);
