import { afterEach, describe, expect, test, vi } from 'vitest';
import { fromCouch } from '../../../src/replication/couchdb/couch-documents.ts';
import { MatchingDocuments } from '../../../src/replication/couchdb/couch-leaving.ts';
import { CouchRemote } from '../../../src/replication/couchdb/couch-remote.ts';
import {
  type CouchCheckpoint,
  type CouchOptions,
  couchdb,
  type Remote,
  type RemoteFetch,
} from '../../../src/replication/index.ts';
import { CouchModel } from '../../simulation/couch-model.ts';
import { closeDevices } from '../device.ts';
import { jsonAnswer } from '../fetching/answers.ts';
import { TestClock, turn } from '../fetching/test-clock.ts';
import { commonScopeStories, deviceOf, idsOf } from '../scope-stories.ts';
import { clusterLike, numbers } from './cluster-like.ts';
import { CouchTestDatabase, useCouchServer } from './couch-server.ts';
import { type Answer, ask, asked, change, page, serve, serveModel, url } from './fake-couch.ts';

describe('couchdb() and what leaves', () => {
  const server = useCouchServer();
  afterEach(closeDevices);

  /** A database that another program writes, too, which knows nothing of Cairn. */
  class CouchOffice {
    readonly remote: Remote;
    readonly requests: string[] = [];
    readonly #database: CouchTestDatabase;
    readonly #fetch: RemoteFetch;

    constructor(database: CouchTestDatabase, options: Partial<CouchOptions>) {
      const { headers, fetch, isReal } = server();
      this.#database = database;
      const reach = isReal ? fetch : clusterLike(fetch, numbers());
      this.#fetch = (target, init) => {
        this.requests.push(target);
        return reach(target, init);
      };
      this.remote = couchdb({ url: database.url, headers, fetch: this.#fetch, ...options });
    }

    async write(id: string, fields: object | undefined): Promise<void> {
      const { _rev, ...before } = await this.#database.get(id).catch(() => ({}));
      const after = fields ? { ...before, ...fields } : { _deleted: true };
      const [{ error }] = await this.#database.write([{ ...after, _id: id, _rev }]);
      expect(error).toBe(undefined);
    }

    async writeAll(ids: readonly string[], fields: object): Promise<void> {
      const present = new Map((await this.#database.documents()).map((one) => [one._id, one._rev]));
      await this.#database.write(ids.map((_id) => ({ ...fields, _id, _rev: present.get(_id) })));
    }

    async document(id: string): Promise<object | null | undefined> {
      const [row] = (
        await this.#database.call('POST', '/_all_docs?include_docs=true', { keys: [id] })
      ).rows;
      return row.value?.deleted ? null : row.doc && fromCouch(row.doc).document;
    }
  }

  const SCOPES: CouchOptions['scopes'] = {
    owner: (owner) => ({ owner }),
    state: (state) => ({ state }),
  };

  async function open(options: Partial<CouchOptions> = { scopes: SCOPES }) {
    return new CouchOffice(await CouchTestDatabase.create(server()), options);
  }

  describe('by scopes', () => commonScopeStories(open));

  test('the scopes that were looked at last are remembered, and the first one is right still', async () => {
    const office = await open();
    await office.write('a', { owner: 'ada' });
    const pull = (owner: string, after?: unknown) =>
      office.remote.pull(after, { ...asked, held: async (ids) => ids, scope: { owner } });
    const { checkpoint } = await pull('ada');
    for (let nth = 0; nth < 110; nth++) await pull(`other ${nth}`);
    const noted = vi.spyOn(MatchingDocuments.prototype, 'notePush');
    await office.remote.push(
      [{ id: 'b', base: undefined, document: { _id: 'b', owner: 'ada' }, key: 'r.1' }],
      ask,
    );
    expect(noted).toHaveBeenCalledTimes(100);
    noted.mockRestore();
    await office.write('a', { owner: 'ben' });
    const { changes } = await pull('ada', checkpoint);
    expect(changes.map(({ id, left = false }) => [id, left]).sort()).toEqual([
      ['a', true],
      ['b', false],
    ]);
  });

  describe('by the selector alone', () => {
    async function opened(selector: Record<string, unknown> = { owner: 'ada' }) {
      const office = await open({ selector });
      const { device, jobs, settled } = deviceOf(office, undefined);
      return { office, device, jobs, settled };
    }

    test('what stops matching goes, and comes again', async () => {
      const { office, device, settled } = await opened();
      for (const id of ['a', 'b', 'c']) await office.write(id, { owner: 'ada' });
      await settled();
      expect(await idsOf(device)).toEqual(['a', 'b', 'c']);
      await office.write('a', { owner: 'ben' });
      // A field that is missing: no negation of the selector matches it in CouchDB.
      await office.write('b', { owner: undefined });
      await settled();
      expect(await idsOf(device)).toEqual(['c']);
      await office.write('a', { owner: 'ada' });
      await settled();
      expect(await idsOf(device)).toEqual(['a', 'c']);
      expect(await device.sync.scopes.list()).toEqual([]);
    });

    test('an unpushed change is on the server first', async () => {
      const { office, device, jobs, settled } = await opened();
      await office.write('a', { owner: 'ada', note: 'old' });
      await settled();
      device.sync.pause();
      await jobs.patch('a', { note: 'mine' });
      await office.write('a', { owner: 'ben' });
      device.sync.resume();
      await settled();
      expect(await office.document('a')).toMatchObject({ owner: 'ben', note: 'mine' });
      expect(await idsOf(device)).toEqual([]);
    });

    test('what was deleted here, and has left meanwhile, does not come back here', async () => {
      const { office, device, jobs, settled } = await opened();
      await office.write('a', { owner: 'ada' });
      await settled();
      device.sync.pause();
      await jobs.delete('a');
      await office.write('a', { owner: 'ben' });
      device.sync.resume();
      await settled();
      // An edit beats a deletion.
      expect(await office.document('a')).toMatchObject({ owner: 'ben' });
      expect(await idsOf(device)).toEqual([]);
    });

    test('more than one page that comes, and more than are looked up that leave', async () => {
      const { office, device, settled } = await opened();
      const write = (owner: string, from: number, to: number) =>
        office.writeAll(
          Array.from({ length: to - from }, (_, at) => `d${from + at}`),
          { owner },
        );
      await write('ada', 0, 120);
      await settled();
      await write('ben', 0, 70);
      await write('ada', 120, 1200);
      await settled();
      expect(await idsOf(device)).toHaveLength(1130);
      await write('ada', 10, 20);
      await write('ben', 30, 31);
      await settled();
      expect(await idsOf(device)).toHaveLength(1140);
    });

    test('a round costs one request more where others have changed something', async () => {
      const { office, device, settled } = await opened();
      await office.write('a', { owner: 'ada' });
      await settled();
      const countOf = async () => {
        office.requests.length = 0;
        await settled();
        return office.requests.filter((one) => /_changes|_find/.test(one) && !/feed/.test(one))
          .length;
      };
      await device.sync.settled();
      expect(await countOf()).toBe(1);
      await office.write('x', { owner: 'ben' });
      expect(await countOf()).toBe(2);
      // Its document is looked up.
      await office.write('a', { owner: 'ben' });
      expect(await countOf()).toBe(3);
      expect(await idsOf(device)).toEqual([]);
    });
  });
});

describe('a pull of what matches', () => {
  const checkpoint = {
    ...{ since: '5-x', database: '1', left: '4-x' },
    selector: '',
  } as CouchCheckpoint;

  /** A remote whose feeds answer with rows. */
  async function pulled(
    { matching = [], all = [] }: { matching?: object[]; all?: object[] },
    answers: Record<string, unknown> = {},
    more: Record<string, unknown> = {},
  ) {
    const _changes: Answer = (body) => jsonAnswer(page(body ? matching : all));
    const remote = couchdb({
      ...{ url, selector: { owner: 'ada' } },
      fetch: serve({ _changes, _revs_diff: {}, ...answers }),
    });
    const { checkpoint: first } = await remote.pull(undefined, asked);
    return remote.pull({ ...(first as CouchCheckpoint), left: '4-x' }, { ...asked, ...more });
  }

  const row = (id: string, rev = '2-a') => ({ id, seq: '1', changes: [{ rev }] });

  test('an old change that a node sends again is no leaving: the document is looked up', async () => {
    const _find = ({ selector }: any) =>
      jsonAnswer({ docs: selector.$and[0]._id === 'a' ? [{ _id: 'a' }] : [] });
    const { changes } = await pulled({ all: [row('a'), row('b')] }, { _find });
    expect(changes).toEqual([{ id: 'b', version: '2-a', left: true }]);
  });

  test('what has left since the page was read does not come', async () => {
    const all = [row('a', '3-a')];
    const { changes } = await pulled(
      { matching: [change('a', '2-a')], all },
      { _find: () => jsonAnswer({ docs: [] }) },
      { held: async () => [] },
    );
    expect(changes).toEqual([{ id: 'a', version: '3-a', left: true }]);
  });

  test('a copy that was restored is noticed, though it has all that matches', async () => {
    const model = new CouchModel();
    const remote = couchdb({ url, selector: { owner: 'ada' }, fetch: serveModel(model) });
    const write = (...ids: string[]) =>
      model.write(ids.map((_id) => ({ _id, owner: _id.startsWith('a') ? 'ada' : 'ben' })));
    write('a1');
    const { checkpoint } = await remote.pull(undefined, asked);
    const copy = model.copy();
    write('b1', 'b2', 'b3');
    const { checkpoint: later } = await remote.pull(checkpoint, asked);
    model.restore(copy);
    write('a2', 'b4', 'b5', 'b6');
    expect(await remote.pull(later, asked)).toMatchObject({
      ...{ reset: true, changes: [{ id: 'a1' }, { id: 'a2' }] },
    });
  });

  test('a server without queries is believed', async () => {
    const { changes } = await pulled({ all: [row('a')] });
    expect(changes).toEqual([{ id: 'a', version: '2-a', left: true }]);
  });

  test('of documents that are not here, nothing is asked', async () => {
    const held = async () => [];
    const _find = () => jsonAnswer({ error: 'unexpected' }, 500);
    const { changes } = await pulled({ all: [row('a')] }, { _find }, { held });
    expect(changes).toEqual([]);
  });

  test('too many that may have left begin anew', async () => {
    const all = Array.from({ length: 60 }, (_, at) => row(`d${at}`));
    const page = await pulled({ matching: [change('a')], all });
    expect(page).toMatchObject({ reset: true, changes: [{ id: 'a' }] });
  });

  test.for([
    [{}],
    [{ results: [1], last_seq: 1 }],
    [{ results: [{ id: 'a', changes: [] }], last_seq: 1 }],
    [{ results: [{ id: '', changes: [{ rev: '1-a' }] }], last_seq: 1 }],
    [{ results: [] }],
  ])('ids that are none, %j, are no answer', async ([answer]) => {
    const _changes: Answer = (body, query) =>
      jsonAnswer(body || query.get('since') === 'now' ? page([]) : answer);
    await expect(pulled({}, { _changes })).rejects.toMatchObject({ code: 'answer_invalid' });
  });

  test('without a place for what leaves a checkpoint begins anew', async () => {
    const remote = couchdb({ url, selector: {}, fetch: serve({ _changes: page([]) }) });
    const { left: _, ...old } = (await remote.pull(undefined, asked)).checkpoint as CouchCheckpoint;
    expect(await remote.pull(old as never, asked)).toMatchObject({ reset: true });
    expect(await remote.pull(checkpoint, asked)).toMatchObject({ reset: true });
  });

  test('a node that lags behind is asked again for what was pushed', async () => {
    const clock = new TestClock();
    let isBehind = true;
    const feeds: string[] = [];
    const own = change('mine', '1-m', { owner: 'ada' });
    const _changes: Answer = (body, query) => {
      feeds.push(`${body ? 'matching' : 'all'} ${query.get('since')}`);
      return jsonAnswer(page(isBehind ? [] : [own]));
    };
    const _bulk_docs: Answer = () => jsonAnswer([{ id: 'mine', rev: '1-m' }]);
    const fetch = serve({ _changes, _bulk_docs, _revs_diff: {} });
    const selectorOf = () => ({ owner: 'ada' });
    const remote = new CouchRemote({ url, headers: {}, fetch, selectorOf }, clock);
    const { checkpoint: from } = await remote.pull(undefined, asked);
    await remote.push(
      [{ id: 'mine', base: undefined, document: { _id: 'mine', owner: 'ada' }, key: 'r.1' }],
      ask,
    );
    const pulling = remote.pull(from, asked);
    while (clock.next === undefined) await turn();
    isBehind = false;
    clock.advance(100);
    expect((await pulling).changes).toMatchObject([{ id: 'mine' }]);
    expect(feeds.length).toBeGreaterThan(4);
  });
});

describe('options', () => {
  const invalid = (options: object) =>
    expect(() => couchdb({ url, ...options } as never)).toThrow(
      expect.objectContaining({ code: 'option_invalid' }),
    );

  test('are checked', () => {
    invalid({ scopes: [] });
    invalid({ scopes: { owner: { owner: 'ada' } } });
    invalid({ scopes: { _selector: () => ({}) } });
    expect(couchdb({ url }).scopes).toBe(undefined);
  });

  test.for([
    [{ bogus: 1 }, 'remote_refused'],
    [{ constructor: 1 }, 'remote_refused'],
    [{ none: 1 }, 'option_invalid'],
    [{ patterns: 1 }, 'option_invalid'],
  ])('the scope %j is %s', async ([scope, code]) => {
    const scopes = { none: () => undefined as never, patterns: () => ({ name: /x/ }) };
    const remote = couchdb({ url, scopes, fetch: serve({}) });
    const pulling = remote.pull(undefined, { ...asked, scope: scope as never });
    await expect(pulling).rejects.toMatchObject({ code });
  });
});
