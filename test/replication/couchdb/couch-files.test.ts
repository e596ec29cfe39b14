import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { couchdb, type RemoteFetch } from '../../../src/replication/index.ts';
import { closeDevices, Device } from '../device.ts';
import { bytesOf, hashOf, MEGABYTE, placeholder } from '../office.ts';
import { CouchTestDatabase, useCouchServer } from './couch-server.ts';
import { ask, remoteOf, row } from './fake-couch.ts';

afterEach(closeDevices);

const photo = randomBytes(300_000);
const name = hashOf(photo);
const blob = (bytes: Uint8Array = photo, type = 'image/png') =>
  new Blob([bytes as Uint8Array<ArrayBuffer>], { type });

describe('files with couchdb()', () => {
  const server = useCouchServer();

  /** Devices of one database, and what they request. */
  async function open() {
    const database = await CouchTestDatabase.create(server());
    const requests: string[] = [];
    /** The ids of each push. */
    const pushes: string[][] = [];
    const network = {
      /** In place of the server. */
      answer: (_: RequestInit): Response | undefined => undefined,
      after: (_: string): void => undefined,
    };
    const fetch: RemoteFetch = async (url, init) => {
      const path = url.slice(database.url.length);
      requests.push(`${init.method} ${path}`);
      const response = network.answer(init) ?? (await server().fetch(url, init));
      network.after(`${init.method} ${path}`);
      return response;
    };
    const device = (files: 'lazy' | 'eager' = 'lazy') => {
      const remote = couchdb({ url: database.url, headers: server().headers, fetch });
      const push: typeof remote.push = (rows, how) => {
        pushes.push(rows.map(({ id }) => id));
        return remote.push(rows, how);
      };
      return new Device({ ...remote, push }, { files }) as Device & { orders: any };
    };
    const attachment = async (id: string, of: string) => {
      const response = await globalThis.fetch(`${database.url}/${id}/${of}`, {
        headers: server().headers,
      });
      const type = response.headers.get('content-type');
      return [response.status, type, Buffer.from(await response.arrayBuffer())];
    };
    const sends = () => requests.filter((one) => /^PUT/.test(one)).length;
    return { database, device, network, requests, pushes, attachment, sends };
  }

  test('Blobs are attachments of their document, which other programs read', async () => {
    const { database, device, attachment, sends } = await open();
    const [a, b] = [device(), device('eager')];
    const [large, sound] = [randomBytes(2.5 * MEGABYTE), randomBytes(5000)];
    await a.orders.insert({
      ...{ _id: 'o/1', photos: [blob(), blob(large, '')] },
      deep: { sound: new Uint8Array(sound), none: blob(new Uint8Array(), 'text/plain') },
    });
    await a.settled();
    const stored = await database.get('o/1');
    expect(stored).toMatchObject({
      photos: [placeholder(photo, 'image/png'), placeholder(large)],
      deep: { sound: placeholder(sound) },
    });
    expect(stored._attachments).toMatchObject({
      [name]: { content_type: 'image/png', length: photo.length },
      [hashOf(large)]: { content_type: 'application/octet-stream', length: large.length },
      [hashOf(sound)]: { length: 5000 },
    });
    expect(Object.keys(stored._attachments)).toHaveLength(4);
    expect(await attachment('o%2F1', name)).toEqual([200, 'image/png', photo]);
    await b.settled();
    for (const [path, bytes, type] of [
      ['photos.0', photo, 'image/png'],
      ['photos.1', large, ''],
      ['deep.sound', sound, ''],
      ['deep.none', Buffer.alloc(0), 'text/plain'],
    ] as const) {
      const file = await b.sync.file('o/1', path);
      expect(file?.type).toBe(type);
      expect(Buffer.from((await bytesOf(file)) as Uint8Array).equals(bytes)).toBe(true);
    }
    expect(sends()).toBe(1);
    // An edit sends none of them again.
    await b.orders.patch('o/1', { note: 'b' });
    await b.settled();
    await a.settled();
    await a.orders.patch('o/1', { note: 'a' });
    await a.settled();
    expect(sends()).toBe(1);
    expect(await attachment('o%2F1', name)).toEqual([200, 'image/png', photo]);
    expect(a.sync.conflicts()).toEqual([]);
    expect(await a.sync.rejected()).toEqual([]);
  });

  test('a file that is named no more goes; attachments of other programs stay', async () => {
    const { database, device } = await open();
    const a = device();
    await a.orders.insert({ _id: 'o', photo: blob() });
    await a.settled();
    const { _rev, ...rest } = await database.get('o');
    const data = Buffer.from('theirs').toString('base64');
    const theirs = { 'their.txt': { content_type: 'text/plain', data } };
    await database.write([{ ...rest, _rev, _attachments: { ...rest._attachments, ...theirs } }]);
    await a.settled();
    await a.orders.patch('o', { note: 'mine' });
    await a.settled();
    expect(Object.keys((await database.get('o'))._attachments).sort()).toEqual([name, 'their.txt']);
    await a.orders.patch('o', { $unset: { photo: true } });
    await a.settled();
    expect(Object.keys((await database.get('o'))._attachments)).toEqual(['their.txt']);
  });

  test('another program that removes attachments stops no edit', async () => {
    const { database, device } = await open();
    const [a, b] = [device(), device()];
    await a.orders.insert({ _id: 'o', photo: blob() });
    await a.settled();
    const { _attachments, ...rest } = await database.get('o');
    await database.write([{ ...rest, note: 'theirs' }]);
    await b.settled();
    await expect(b.sync.file('o', 'photo')).rejects.toMatchObject({ code: 'remote_refused' });
    await b.orders.patch('o', { count: 1 });
    await b.settled();
    expect(await b.sync.rejected()).toEqual([]);
    expect(await database.get('o')).toMatchObject({ note: 'theirs', count: 1 });
    // One that has the file brings it back.
    await a.settled();
    await a.orders.patch('o', { count: 2 });
    await a.settled();
    expect(await bytesOf(await b.sync.file('o', 'photo'))).toEqual(new Uint8Array(photo));
  });

  test('two devices add photos offline: both are there', async () => {
    const { database, device } = await open();
    const [a, b] = [device(), device()];
    await a.orders.insert({ _id: 'o', photos: [] });
    for (const each of [a, b, a]) await each.settled();
    const other = randomBytes(1000);
    for (const { sync } of [a, b]) sync.pause();
    await a.orders.patch('o', { $push: { photos: blob() } });
    await b.orders.patch('o', { $push: { photos: blob(other) } });
    for (const each of [a, b, a]) {
      each.sync.resume();
      await each.settled();
    }
    expect((await a.orders.get('o')).photos).toHaveLength(2);
    const names = Object.keys((await database.get('o'))._attachments).sort();
    expect(names).toEqual([name, hashOf(other)].sort());
    expect(await bytesOf(await a.sync.file('o', 'photos.1'))).toEqual(new Uint8Array(other));
  });

  test('a file that a document has from another one goes with it', async () => {
    const { device, attachment } = await open();
    const [a, b] = [device(), device()];
    await a.orders.insert({ _id: 'o', photo: blob() });
    await a.settled();
    await b.settled();
    const { photo: ref } = await b.orders.get('o');
    await b.orders.insert({ _id: 'copy', photo: ref });
    await b.settled();
    expect(await attachment('copy', name)).toEqual([200, 'image/png', photo]);
  });

  test('a network that breaks sends one file again, of many that documents have from others', async () => {
    const { device, pushes, attachment } = await open();
    const [a, b] = [device(), device()];
    await a.orders.insert({ _id: 'o', photo: blob() });
    for (const each of [a, b]) await each.settled();
    const { photo: ref } = await b.orders.get('o');
    b.sync.pause();
    pushes.length = 0;
    await b.orders.insertMany([{ _id: 'p', photo: ref }, { _id: 'q', photo: ref }, { _id: 'r' }]);
    await b.orders.patch('o', { note: 'no file is sent with it' });
    b.sync.resume();
    await b.settled();
    expect(pushes.map((ids) => ids.sort())).toEqual([['o', 'r'], ['p'], ['q']]);
    expect(await attachment('q', name)).toEqual([200, 'image/png', photo]);
  });

  test('an answer that is lost sends the document again, and makes no conflict', async () => {
    const { database, device, network } = await open();
    const a = device();
    let lost = 1;
    network.after = (request) => {
      if (request.startsWith('PUT') && lost-- > 0) throw new TypeError('lost');
    };
    await a.orders.insert({ _id: 'o', photo: blob() });
    const offline = new Promise<void>((resolve) => {
      a.sync.on('status', ({ state }) => {
        if (state === 'offline') resolve();
      });
    });
    await offline;
    a.sync.resume();
    await a.settled();
    expect((await database.get('o'))._rev).toMatch(/^1-/);
    expect(a.sync.conflicts()).toEqual([]);
    expect(a.sync.status.pending).toBe(0);
  });

  test('documents without files do not wait for those with some', async () => {
    const { device, requests } = await open();
    const a = device();
    a.sync.pause();
    for (let at = 0; at < 5; at++)
      await a.orders.insert({ _id: `photo${at}`, photo: blob(randomBytes(10)) });
    for (let at = 0; at < 60; at++) await a.orders.insert({ _id: `note${at}`, note: 'x' });
    a.sync.resume();
    await a.settled();
    const pushes = requests
      .filter((one) => /PUT|_bulk_docs/.test(one))
      .map((one) => one.slice(0, 4));
    expect(pushes.filter((one) => one === 'PUT ')).toHaveLength(5);
    // The history of the database is named first, by the first pull.
    expect(pushes.lastIndexOf('POST')).toBeLessThan(pushes.indexOf('PUT '));
  });

  test.for([[403], [413]] as const)(
    'a file that the server refuses with %d rejects its document alone, once',
    async ([status]) => {
      const { database, device, network, sends } = await open();
      const a = device();
      network.answer = ({ method }) =>
        method === 'PUT'
          ? Response.json({ error: 'no', reason: 'not here' }, { status })
          : undefined;
      await a.orders.insertMany([{ _id: 'o', photo: blob() }, { _id: 'p' }]);
      await a.settled();
      expect(await a.sync.rejected()).toMatchObject([
        { id: 'o', reason: expect.stringContaining('not here') },
      ]);
      expect((await database.documents()).map(({ _id }) => _id)).toEqual(['p']);
      await a.settled();
      expect(sends()).toBe(1);
      expect(await bytesOf(await a.sync.file('o', 'photo'))).toEqual(new Uint8Array(photo));
    },
  );
});

describe('a push with files', () => {
  const file = { $file: { sha256: name, size: photo.length, type: 'image/png' } };

  test.for([
    ['text/html\r\nx-evil: 1', 'application/octet-stream'],
    ['image/png; charset=x', 'image/png'],
    ['', 'application/octet-stream'],
    ['nonsense', 'application/octet-stream'],
  ])('of the type %j says %s', async ([type, said]) => {
    let sent: Blob | undefined;
    const fetching: RemoteFetch = async (_, { body }) => {
      sent = body as Blob;
      return Response.json({ id: 'a', rev: '1-a', ok: true }, { status: 201 });
    };
    const given = row('a', undefined, { _id: 'a', photo: { $file: { ...file.$file, type } } });
    const [result] = await couchdb({ url: 'https://example.com/db', fetch: fetching }).push(
      [given],
      {
        ...ask,
        content: async () => blob(),
      },
    );
    expect(result).toEqual({ version: 'att+1-a' });
    const text = await (sent as Blob).text();
    expect(text.includes(`"content_type":"${said}"`)).toBe(true);
    expect(text.includes('\r\nx-evil: 1')).toBe(false);
  });

  test('content of another size is not sent under its name', async () => {
    const bodies: unknown[] = [];
    const _bulk_docs = (body: any) => {
      bodies.push(...body.docs);
      return Response.json([{ id: 'a', rev: '1-a' }]);
    };
    const given = row('a', undefined, { _id: 'a', photo: file });
    await remoteOf({ _bulk_docs }).push([given], {
      ...ask,
      content: async () => blob(photo.subarray(1)),
    });
    expect(bodies).toEqual([expect.not.objectContaining({ _attachments: expect.anything() })]);
  });

  test('a part of an answer without ranges is cut out', async () => {
    const bytes = randomBytes(2.5 * MEGABYTE);
    const ranges: unknown[] = [];
    const answers =
      (isRanged: boolean): RemoteFetch =>
      async (_, { headers }) => {
        const { range } = headers as { range?: string };
        ranges.push(range);
        const [, from, to] = /bytes=(\d+)-(\d+)/.exec(range ?? '') ?? [];
        return isRanged && range
          ? new Response(bytes.subarray(Number(from), Number(to) + 1), { status: 206 })
          : new Response(bytes);
      };
    for (const isRanged of [true, false]) {
      const { files } = couchdb({ url: 'https://example.com/db', fetch: answers(isRanged) });
      const of = { id: 'a', sha256: hashOf(bytes), size: bytes.length };
      for (const from of [0, MEGABYTE, 2 * MEGABYTE]) {
        const part = await files?.read(of, from, ask);
        const isEqual = bytes.subarray(from, from + MEGABYTE).equals(part as Uint8Array);
        expect([from, isEqual]).toEqual([from, true]);
      }
    }
    expect(ranges[0]).toBe(`bytes=0-${MEGABYTE - 1}`);
  });
});
