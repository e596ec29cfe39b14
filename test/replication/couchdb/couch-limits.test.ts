import { afterEach, describe, expect, test } from 'vitest';
import { couchdb, type Remote } from '../../../src/replication/index.ts';
import { jsonAnswer } from '../fetching/answers.ts';
import { Device } from '../remotes/device.ts';
import {
  type Answer,
  type Answers,
  ask,
  change,
  page,
  remoteOf,
  row,
  serve,
  url,
} from './fake-couch.ts';

const MEGABYTE = 1024 * 1024;
const text = (megabytes: number) => 'x'.repeat(megabytes * MEGABYTE);
const ids = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

describe('documents that are larger than one answer', () => {
  let device: Device | undefined;
  afterEach(async () => {
    await device?.close();
    device = undefined;
  });

  /**
   * The rows of `_changes` one after the other, as a server pages them; without documents where
   * they are not asked for.
   */
  function changesOf(all: readonly ReturnType<typeof change>[]): Answer {
    return (_, query) => {
      const since = Number(query.get('since'));
      const rows = all
        .slice(since, since + Number(query.get('limit')))
        .map(({ doc, ...others }) => (query.has('include_docs') ? { ...others, doc } : others));
      const last = since + rows.length;
      return jsonAnswer({ results: rows, last_seq: last, pending: all.length - last });
    };
  }

  async function pulled(remote: Remote): Promise<Device> {
    device = new Device(remote, { direction: 'pull', live: false });
    await device.settled();
    return device;
  }

  test('one document of 17 MB is left out, and named', async () => {
    const _changes = changesOf([
      ...[change('a'), change('large', '1-a', { text: text(17) })],
      ...[change('b'), change('c'), change('d')],
    ]);
    const rejected: object[] = [];
    device = new Device(remoteOf({ _changes, _revs_diff: {} }), { direction: 'pull', live: false });
    device.sync.on('rejected', (event) => rejected.push(event));
    await device.settled();
    expect(await device.content()).toEqual(['a', 'b', 'c', 'd'].map((_id) => ({ _id })));
    expect(rejected).toEqual([{ id: 'large', reason: 'The document is too large.' }]);
  });

  test('a document that is too large is not removed as the database begins anew', async () => {
    const _changes = changesOf([change('a'), change('large')]);
    const answers: Answers = { _changes, _revs_diff: {}, cairn: { history: '1' } };
    const remote = couchdb({ url, fetch: (...given) => serve(answers)(...given) });
    const before = await pulled(remote);
    answers.cairn = { history: '2' };
    answers._changes = changesOf([change('b'), change('large', '2-a', { text: text(17) })]);
    await before.sync.stop();
    device = new Device(remote, { direction: 'pull', live: false }, before);
    await device.settled();
    expect(await device.content()).toEqual(['b', 'large'].map((_id) => ({ _id })));
  });

  test('many branches of one document are merged, unless one is too large', async () => {
    const losers = ids(40).map((index) => `2-${index.padStart(3, '0')}`);
    for (const largest of [1, 17]) {
      const edits: any[] = [];
      const counts: number[] = [];
      const answers: Answers = {
        _changes: page([change('o', '2-f', { item: 'lamp', _conflicts: losers })]),
        _bulk_get: ({ docs }: any) => {
          counts.push(docs.length);
          const bodies = docs.map(({ id, rev }: any) => ({
            ...{ _id: id, _rev: rev, [rev]: 1 },
            text: text(rev === losers[0] ? largest : 1),
          }));
          return jsonAnswer({
            results: bodies.map((ok: any) => ({ id: ok._id, docs: [{ ok }] })),
          });
        },
        _bulk_docs: ({ docs }: any) => {
          edits.push(...docs);
          return jsonAnswer(docs.map(({ _id: id }: any) => ({ id, rev: '3-a' })));
        },
      };
      const { changes } = await remoteOf(answers).pull(undefined, { limit: 9, ...ask });
      expect(counts.slice(0, 3)).toEqual([40, 20, 10]);
      if (largest === 1) {
        expect(Object.keys(changes[0]?.document ?? {})).toHaveLength(43);
        expect(edits.filter(({ _deleted }) => _deleted)).toHaveLength(40);
      } else {
        expect(changes).toEqual([
          { id: 'o', version: '2-f', document: { _id: 'o', item: 'lamp' } },
        ]);
        expect(edits).toEqual([]);
      }
    }
  });

  /** Conflicts of all rows with documents of so many megabytes. */
  function conflicting(megabytes: (id: string) => number): Answers {
    return {
      _bulk_docs: ({ docs }: any) =>
        jsonAnswer(docs.map(({ _id: id }: any) => ({ id, error: 'conflict', reason: '' }))),
      _bulk_get: { results: [] },
      _all_docs: ({ keys }: any) =>
        jsonAnswer({
          rows: keys.map((key: string) => ({
            ...{ key, value: { rev: '2-b' } },
            doc: { _id: key, _rev: '2-b', text: text(megabytes(key)) },
          })),
        }),
    };
  }

  const later = { rejected: { reason: expect.any(String), retry: true } };

  test('of 40 conflicts as many come as one answer takes, the others by a pull', async () => {
    const rows = ids(40).map((id) => row(id, '1-x'));
    const results = await remoteOf(conflicting(() => 1)).push(rows, ask);
    expect(results.slice(10)).toEqual(Array(30).fill(later));
    for (const result of results.slice(0, 10))
      expect(result).toHaveProperty('conflict.version', '2-b');
  });

  test('a conflict with a document of 17 MB is one rejected row', async () => {
    const rows = [row('large', '1-x'), row('a', '1-x')];
    const remote = remoteOf(conflicting((id) => (id === 'large' ? 17 : 0)));
    expect(await remote.push(rows, ask)).toEqual([
      { rejected: { reason: "The server's document is too large." } },
      later,
    ]);
    expect(await remote.push(rows.slice(1), ask)).toMatchObject([{ conflict: { id: 'a' } }]);
  });

  test('attachments of a document that is too large are not deleted', async () => {
    const sent: any[] = [];
    const remote = remoteOf({
      _bulk_get: ({ docs }: any) =>
        jsonAnswer({
          results: docs.map(({ id, rev }: any) => ({
            ...{ id },
            docs: [
              {
                ok: {
                  _id: id,
                  _rev: rev,
                  text: text(id === 'large' ? 17 : 0),
                  _attachments: { f: {} },
                },
              },
            ],
          })),
        }),
      _bulk_docs: ({ docs }: any) => {
        sent.push(...docs);
        return jsonAnswer(docs.map(({ _id: id }: any) => ({ id, rev: '2-a' })));
      },
    });
    const results = await remote.push([row('large', 'att+1-x'), row('a', 'att+1-x')], ask);
    expect(results).toMatchObject([{ rejected: {} }, { version: 'att+2-a' }]);
    expect(sent).toMatchObject([{ _id: 'a', _attachments: { f: {} } }]);
  });
});
