import { describe, expect, test } from 'vitest';
import { CouchRemote } from '../../../src/replication/couchdb/couch-remote.ts';
import { type CouchCheckpoint, couchdb } from '../../../src/replication/index.ts';
import { CouchModel } from '../../simulation/couch-model.ts';
import { jsonAnswer } from '../fetching/answers.ts';
import { TestClock, turn } from '../fetching/test-clock.ts';
import {
  type Answer,
  type Answers,
  ask,
  asked,
  change,
  page,
  remoteOf,
  row,
  serve,
  serveModel,
  url,
} from './fake-couch.ts';

describe('a checkpoint', () => {
  const checkpoint: CouchCheckpoint = { since: '5-x', database: '1', seen: [['a', '1-a']] };

  /** The sequences that are requested, and whether the page begins anew. */
  async function pullAfter(after: unknown, answers: Answers) {
    const since: (string | null)[] = [];
    const _changes: Answer = (_, query) => {
      since.push(query.get('since'));
      return jsonAnswer(page([change('a')], '7-x'));
    };
    const remote = remoteOf({ _revs_diff: {}, _changes, ...answers });
    const { reset } = await remote.pull(after as CouchCheckpoint, asked);
    return { since, reset: reset === true };
  }

  test('of this database goes on', async () => {
    expect(await pullAfter(checkpoint, {})).toEqual({ since: ['5-x'], reset: false });
  });

  test('of a database that was created at another time begins anew', async () => {
    const other = { ...checkpoint, database: '0' };
    expect(await pullAfter(other, {})).toEqual({ since: ['5-x', '0'], reset: true });
  });

  test('with a document that the database has not seen begins anew: an older copy was restored', async () => {
    const answers = { _revs_diff: { a: { missing: ['1-a'] } } };
    expect(await pullAfter(checkpoint, answers)).toEqual({ since: ['5-x', '0'], reset: true });
    // A device has pushed the last one again, which is the same revision.
    const seen = [...(checkpoint.seen ?? []), ['b', '1-b']];
    const known = { since: ['5-x', '0'], reset: true };
    expect(await pullAfter({ ...checkpoint, seen }, answers)).toEqual(known);
  });

  test('begins anew where the database has not seen what was pushed since: an older copy was restored', async () => {
    let lost: object = {};
    const remote = remoteOf({
      _bulk_docs: [{ id: 'b', rev: '1-b' }],
      _changes: page([change('a')], '7-x'),
      _revs_diff: (body: object) => jsonAnswer(Object.hasOwn(body, 'b') ? lost : {}),
    });
    await remote.push([row('b', undefined, { _id: 'b' })], ask);
    const pull = async () => (await remote.pull(checkpoint, asked)).reset === true;
    expect(await pull()).toBe(false);
    lost = { b: { missing: ['1-b'] } };
    expect([await pull(), await pull()]).toEqual([true, false]);
  });

  test('of a database that another first client has named anew goes on, if it knows what was pushed', async () => {
    let known: object = {};
    const remote = remoteOf({
      _bulk_docs: [{ id: 'b', rev: '1-b' }],
      _changes: page([], '0-x'),
      _revs_diff: () => jsonAnswer(known),
    });
    const start = { since: '0-x', database: '0' };
    const pull = (after: CouchCheckpoint) => remote.pull(after, asked);
    expect(await pull(start)).toMatchObject({ reset: true });
    await remote.push([row('b', undefined, { _id: 'b' })], ask);
    const page1 = await pull(start);
    expect(page1.reset).toBe(undefined);
    expect(page1.checkpoint.database).not.toBe('0');
    expect(await pull({ ...start, since: '5-x' })).toMatchObject({ reset: true });
    await remote.push([row('b', undefined, { _id: 'b' })], ask);
    known = { b: { missing: ['1-b'] } };
    expect(await pull(start)).toMatchObject({ reset: true });
  });

  test('of an earlier version, with one document, goes on', async () => {
    const asked: unknown[] = [];
    const _revs_diff: Answer = (body) => jsonAnswer({ ...(asked.push(body) && {}) });
    const old = { ...checkpoint, seen: ['a', '1-a'] };
    expect(await pullAfter(old, { _revs_diff })).toEqual({ since: ['5-x'], reset: false });
    expect(asked).toEqual([{ a: ['1-a'] }]);
  });

  test('keeps the newest revisions of eight documents', async () => {
    const rows = Array.from({ length: 9 }, (_, at) => change(`d${at}`));
    const remote = remoteOf({
      _changes: page([change('d3', '2-b'), ...rows.slice(4), ...rows.slice(0, 3)]),
      _revs_diff: {},
    });
    const before = {
      ...checkpoint,
      seen: [
        ['a', '1-a'],
        ['d3', '1-a'],
      ],
    } as const;
    const pulled = await remote.pull(before, { ...asked, limit: 20 });
    expect((pulled.checkpoint as CouchCheckpoint).seen?.map(([id]) => id)).toEqual([
      ...['d4', 'd5', 'd6', 'd7', 'd8', 'd0', 'd1', 'd2'],
    ]);
  });

  test.for([
    [null],
    ['5-x'],
    [{}],
    [{ since: {}, database: '1' }],
    [{ ...checkpoint, seen: [1] }],
    [{ ...checkpoint, seen: [['a']] }],
  ])('that is none, %j, begins anew', async ([after]) => {
    expect(await pullAfter(after, {})).toEqual({ since: ['0'], reset: true });
  });

  test('that the server refuses begins anew', async () => {
    const since: (string | null)[] = [];
    const _changes: Answer = (_, query) => {
      since.push(query.get('since'));
      if (query.get('since') === '0') return jsonAnswer(page([]));
      return jsonAnswer({ error: 'bad_request', reason: 'since' }, 400);
    };
    const remote = remoteOf({ _revs_diff: {}, _changes });
    expect(await remote.pull(checkpoint, asked)).toMatchObject({ reset: true });
    expect(since).toEqual(['5-x', '0']);
  });

  test('ahead of the server goes on: another node of a cluster may count less', async () => {
    const remote = remoteOf({ _changes: page([], '3-x'), _revs_diff: {} });
    expect(await remote.pull(checkpoint, asked)).not.toHaveProperty('reset');
  });

  test('is compared behind the last page, with what was seen at the first', async () => {
    const calls: string[] = [];
    const left = [2, 1, 0];
    const _changes = () =>
      jsonAnswer({ ...page([change(`${left.length}`)]), pending: left.shift() });
    const _revs_diff: Answer = (body) => {
      calls.push(...Object.keys(body));
      return jsonAnswer({});
    };
    const remote = couchdb({ url, fetch: serve({ _changes, _revs_diff }, calls) });
    const checkpoints = [];
    let after: CouchCheckpoint = checkpoint;
    for (let pull = 0; pull < 3; pull++) {
      after = (await remote.pull(after, asked)).checkpoint as CouchCheckpoint;
      checkpoints.push(after.seen?.map(([id]) => id).join());
    }
    expect(checkpoints).toEqual(['a', 'a', 'a,1']);
    expect(calls).toEqual(['_changes', '_changes', '_changes', 'cairn', '_revs_diff', 'a']);
  });

  test('is compared while nothing happens', async () => {
    const clock = new TestClock();
    let history = '1';
    const _changes: Answer = () => new Promise(() => undefined);
    const fetch = serve({ _changes, _revs_diff: {}, cairn: () => jsonAnswer({ history }) });
    const remote = new CouchRemote({ url, headers: {}, fetch, selectorOf: () => undefined }, clock);
    const rings = remote.watch(checkpoint, ask)[Symbol.asyncIterator]();
    let hasRung = false;
    const ring = rings.next().then(() => {
      hasRung = true;
    });
    // Less than the silence after which a poll begins anew.
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1000);
        await turn();
      }
    };
    await pass(19);
    expect(hasRung).toBe(false);
    history = '2';
    clock.advance(41_000);
    await ring;
    await rings.return?.();
    expect(clock.next).toBeUndefined();
  });
});

describe('the history of a database', () => {
  /** A database that keeps local documents, or refuses them with a status. */
  function marked(status?: number) {
    const documents = new Map<string, { history: string }>();
    const sent: unknown[] = [];
    const answers: Answers = {
      orders: { instance_start_time: '77' },
      _changes: page([]),
      cairn: () => {
        const found = documents.get('_local/cairn');
        return found ? jsonAnswer(found) : jsonAnswer({ error: 'not_found' }, status ?? 404);
      },
      _bulk_docs: ({ docs }: any) => {
        sent.push(...docs);
        const [{ _id: id, history }] = docs;
        if (status) return jsonAnswer([{ id, error: 'forbidden', reason: '' }]);
        if (documents.has(id)) return jsonAnswer([{ id, error: 'conflict', reason: '' }]);
        documents.set(id, { history });
        return jsonAnswer([{ id, rev: '0-1' }]);
      },
    };
    const name = async () =>
      ((await remoteOf(answers).pull(undefined, asked)).checkpoint as CouchCheckpoint).database;
    return { name, sent, documents };
  }

  test('is named by the first client, and the same for all', async () => {
    const { name, sent } = marked();
    const names = await Promise.all([name(), name(), name()]);
    names.push(await name());
    expect(new Set(names).size).toBe(1);
    expect(sent[0]).toEqual({ _id: '_local/cairn', history: names[0] });
    expect(names[0]).toMatch(/^.{21}$/);
  });

  test('is the same for all where one writes over the name of another', async () => {
    const fetch = serveModel(new CouchModel());
    const names = [1, 2].map(async () => {
      const { checkpoint } = await couchdb({ url, fetch }).pull(undefined, asked);
      return (checkpoint as CouchCheckpoint).database;
    });
    const [one, other] = await Promise.all(names);
    expect(one).toBe(other);
  });

  test.each([403, 405])(
    'is the time of its creation where %d keeps clients from naming it',
    async (status) => {
      const { name } = marked(status);
      expect(await name()).toBe('77');
    },
  );

  test('is another one once it was deleted', async () => {
    const { name, documents } = marked();
    const before = await name();
    documents.clear();
    expect(await name()).not.toBe(before);
  });
});
