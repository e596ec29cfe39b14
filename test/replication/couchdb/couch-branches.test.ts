import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { couchdb } from '../../../src/replication/index.ts';
import { Device } from '../remotes/device.ts';
import { CouchTestDatabase, useCouchServer } from './couch-server.ts';

/**
 * Revisions that nodes made while they did not see each other: CouchDB takes the highest as the
 * winner.
 */
const LOW = `2-${'1'.repeat(32)}`;
const HIGH = `2-${'f'.repeat(32)}`;
const ROOT = '0'.repeat(32);

describe('couchdb() and branches that a cluster left behind', () => {
  const server = useCouchServer();
  const devices: Device[] = [];
  let database: CouchTestDatabase;

  beforeEach(async () => {
    database = await CouchTestDatabase.create(server());
  });
  afterEach(async () => {
    for (const each of devices.splice(0)) await each.close();
  });

  function device(fetch?: Parameters<typeof couchdb>[0]['fetch'], options: object = {}): Device {
    const { headers } = server();
    const made = new Device(couchdb({ url: database.url, headers, fetch }), options);
    devices.push(made);
    return made;
  }

  function branch(revision: string, fields: object): object {
    const [start, id] = revision.split('-');
    return {
      _id: 'o',
      _rev: revision,
      _revisions: { start: Number(start), ids: [id, ROOT] },
      ...fields,
    };
  }

  const twoBranches = () =>
    database.write(
      [
        branch(LOW, { item: 'lamp', note: 'low', low: 1 }),
        branch(HIGH, { item: 'lamp', count: 2, note: 'high' }),
      ],
      { new_edits: false },
    );

  test('are merged: the fields of the winner win, and nothing else is lost', async () => {
    await database.write([branch(LOW, { item: 'lamp', at: 1 }), branch(HIGH, { item: 'book' })], {
      new_edits: false,
    });
    const a = device();
    await a.settled();
    expect(await a.orders.get('o')).toMatchObject({ item: 'book', at: 1 });
    const merged = await database.get('o', '?conflicts=true');
    expect(merged).toMatchObject({ item: 'book', at: 1 });
    expect(merged).not.toHaveProperty('_conflicts');
  });

  test('are merged once by clients that do it at the same time', async () => {
    await twoBranches();
    const all = [device(), device(), device()];
    await Promise.all(all.map((each) => each.settled()));
    for (const each of all) await each.settled();
    const merged = await database.get('o', '?conflicts=true&revs=true');
    expect(merged._revisions.start).toBe(3);
    expect(merged).not.toHaveProperty('_conflicts');
    for (const each of all)
      expect(await each.orders.get('o')).toMatchObject({
        ...{ item: 'lamp', count: 2, note: 'high', low: 1 },
      });
  });

  test('the same merge has the same revision everywhere: nodes that merge apart make no new branch', async () => {
    await twoBranches();
    await device().settled();
    const here = await database.get('o');
    database = await CouchTestDatabase.create(server());
    await twoBranches();
    await device().settled();
    expect((await database.get('o'))._rev).toBe(here._rev);
  });

  test('no loser is deleted if the winner has changed meanwhile', async () => {
    await twoBranches();
    let isChanged = false;
    const a = device(async (url, init) => {
      if (url.endsWith('/_bulk_docs') && !isChanged) {
        isChanged = true;
        await database.write([{ _id: 'o', _rev: HIGH, item: 'book' }]);
      }
      return fetch(url, init);
    });
    await a.settled();
    await a.settled();
    expect(isChanged).toBe(true);
    expect(await a.orders.get('o')).toMatchObject({ item: 'book', note: 'low', low: 1 });
    expect(await database.get('o', '?conflicts=true')).not.toHaveProperty('_conflicts');
  });

  test('stay where this user may only read, and the winner is here', async () => {
    await twoBranches();
    const a = device(
      async (url, init) =>
        url.endsWith('/_bulk_docs')
          ? Response.json({ error: 'forbidden', reason: 'read only' }, { status: 403 })
          : fetch(url, init),
      { direction: 'pull' },
    );
    await a.settled();
    expect(await a.orders.get('o')).toMatchObject({ count: 2, note: 'high' });
    expect(await database.get('o', '?conflicts=true')).toHaveProperty('_conflicts', [LOW]);
  });

  test.each([
    ['toString', undefined],
    ['constructor', undefined],
    ['note.txt', 'other'],
  ])('stay where the loser has an attachment %s that would be lost', async (name, ofWinner) => {
    const attached = (text: string) => ({
      _attachments: { [name]: { content_type: 'text/plain', data: btoa(text) } },
    });
    const high = { item: 'book', ...(ofWinner && attached(ofWinner)) };
    await database.write([branch(LOW, { item: 'lamp', ...attached('low') }), branch(HIGH, high)], {
      new_edits: false,
    });
    const a = device();
    await a.settled();
    expect(await a.orders.get('o')).toMatchObject({ item: 'book' });
    const found = await database.get('o', `?rev=${LOW}&attachments=true`);
    expect(atob(found._attachments[name].data)).toBe('low');
    expect(await database.get('o', '?conflicts=true')).toHaveProperty('_conflicts', [LOW]);
  });

  test('are merged where the winner has the same attachment', async () => {
    const _attachments = { 'note.txt': { content_type: 'text/plain', data: btoa('same') } };
    await database.write(
      [branch(LOW, { low: 1, _attachments }), branch(HIGH, { item: 'book', _attachments })],
      { new_edits: false },
    );
    const a = device();
    await a.settled();
    const merged = await database.get('o', '?conflicts=true&attachments=true');
    expect(merged).toMatchObject({ item: 'book', low: 1, _attachments });
    expect(merged).not.toHaveProperty('_conflicts');
  });

  test('a branch of a document that was changed here too', async () => {
    await database.write([{ _id: 'o', item: 'lamp' }]);
    const a = device();
    await a.settled();
    a.sync.pause();
    const { _rev } = await database.get('o');
    const [, root] = _rev.split('-');
    const grown = (rev: string, fields: object) => ({
      ...branch(rev, fields),
      _revisions: { start: 2, ids: [rev.slice(2), root] },
    });
    await database.write(
      [grown(LOW, { item: 'lamp', note: 'low' }), grown(HIGH, { item: 'lamp', at: 3 })],
      { new_edits: false },
    );
    await a.orders.patch('o', { count: 1 });
    a.sync.resume();
    await a.settled();
    expect(await a.orders.get('o')).toMatchObject({ item: 'lamp', note: 'low', at: 3, count: 1 });
    expect(await database.get('o', '?conflicts=true')).not.toHaveProperty('_conflicts');
  });
});
