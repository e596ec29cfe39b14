import { describe, expect, test } from 'vitest';
import { CouchRemote } from '../../../src/replication/couchdb/couch-remote.ts';
import type { CouchCheckpoint } from '../../../src/replication/index.ts';
import { jsonAnswer } from '../fetching/answers.ts';
import { TestClock } from '../fetching/test-clock.ts';
import {
  type Answer,
  type Answers,
  asked,
  change,
  page,
  remoteOf,
  serve,
  url,
} from './fake-couch.ts';

describe('a checkpoint', () => {
  const checkpoint: CouchCheckpoint = { since: '5-x', database: '1', seen: ['a', '1-a'] };

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
    expect(await pullAfter(other, {})).toEqual({ since: ['0'], reset: true });
  });

  test('whose last document the database has not seen begins anew: an older copy was restored', async () => {
    const answers = { _revs_diff: { a: { missing: ['1-a'] } } };
    expect(await pullAfter(checkpoint, answers)).toEqual({ since: ['0'], reset: true });
  });

  test.for([[null], ['5-x'], [{}], [{ since: {}, database: '1' }], [{ ...checkpoint, seen: [1] }]])(
    'that is none, %j, begins anew',
    async ([after]) => {
      expect(await pullAfter(after, {})).toEqual({ since: ['0'], reset: true });
    },
  );

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

  test('ahead of the server is looked into, while nothing else makes suspicious', async () => {
    let isKnown = true;
    let last = '5-x';
    const remote = remoteOf({
      _changes: () => jsonAnswer(page([], last)),
      _revs_diff: () => jsonAnswer(isKnown ? {} : { a: { missing: ['1-a'] } }),
    });
    expect(await remote.pull(checkpoint, asked)).not.toHaveProperty('reset');
    last = '3-x';
    // Another node of a cluster may count less.
    expect(await remote.pull(checkpoint, asked)).not.toHaveProperty('reset');
    isKnown = false;
    expect(await remote.pull(checkpoint, asked)).toMatchObject({ reset: true });
  });

  test('is compared again after a failure, and after a while', async () => {
    const calls: string[] = [];
    let status = 200;
    const _changes = () => jsonAnswer(page([]), status);
    const clock = new TestClock();
    const fetch = serve({ _changes, _revs_diff: {} }, calls);
    const remote = new CouchRemote({ url, headers: {}, fetch, selector: undefined }, clock);
    const pull = () => remote.pull(checkpoint, asked);
    const checks = () => calls.splice(0).filter((name) => name === '_revs_diff').length;
    await pull();
    await pull();
    expect(checks()).toBe(1);
    status = 503;
    await expect(pull()).rejects.toMatchObject({ code: 'remote_failed' });
    status = 200;
    await pull();
    expect(checks()).toBe(1);
    clock.advance(30_000);
    await pull();
    expect(checks()).toBe(1);
  });
});
