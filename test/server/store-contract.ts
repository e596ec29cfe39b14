import { describe, expect, test } from 'vitest';
import type { Store, StoreResult, StoreRow } from '../../src/server/index.ts';

/** A row with the document `{ _id, value }`, or a deletion. */
export function row(
  id: string,
  value: unknown,
  given: { base?: string; key?: string; seen?: string } = {},
): StoreRow {
  keys += 1;
  const { key = `replica.${keys}`, ...others } = given;
  return { id, key, ...others, ...(value !== undefined && { document: { _id: id, value } }) };
}

let keys = 0;

/** A collection that no other test knows. */
function anyCollection(): string {
  return `orders ${crypto.randomUUID()}'"; drop table cairn_rows; --`;
}

/** The version that an accepted push made. */
export function versionOf(result: StoreResult | undefined): string {
  if (result && 'version' in result) return result.version;
  throw new Error(`not accepted: ${JSON.stringify(result)}`);
}

const never = new AbortController().signal;

/** What every store promises. */
export function storeContract(name: string, store: () => Store): void {
  const push = (collection: string, ...rows: StoreRow[]) => store().push(collection, rows);
  const pull = (collection: string, after?: string, limit = 100) =>
    store().pull(collection, after, limit);
  const pushOne = async (collection: string, each: StoreRow) => {
    const [result] = await push(collection, each);
    return versionOf(result);
  };

  describe(`the store ${name}`, () => {
    test('answers to conflicts, and to pushes that come again, have about 1 MB', async () => {
      const orders = anyCollection();
      const ids = Array.from({ length: 6 }, (_, index) => `${index}`);
      const text = 'é'.repeat(150_000);
      const first = ids.map((id) => row(id, text));
      const made = await push(orders, ...first);
      const later = { rejected: { reason: expect.any(String), retry: true } };
      const [conflict] = await push(orders, row('0', 2));
      const conflicts = await push(orders, ...ids.map((id) => row(id, 2)));
      expect(conflicts).toEqual([
        conflict,
        ...Array(3).fill({ conflict: expect.objectContaining({ document: expect.anything() }) }),
        ...[later, later],
      ]);
      // What needs no document is answered behind them too.
      const base = versionOf(made[5]);
      const mixed = await push(orders, ...Array(100).fill(row('0', 2)), row('5', text, { base }));
      expect(mixed.filter((one) => 'rejected' in one)).toHaveLength(96);
      expect(mixed[100]).toEqual({ version: expect.any(String) });
      const others = ids.slice(0, 5).map((id, at) => row(id, text, { base: versionOf(made[at]) }));
      await push(orders, ...others);
      const again = await push(orders, ...first);
      expect(again.slice(0, 4)).toMatchObject(Array(4).fill({ document: { value: text } }));
      expect(again.slice(4)).toEqual([later, later]);
    });

    test('a document that no client could take is left out, and named', async () => {
      const orders = anyCollection();
      const value = 'x'.repeat(15_000_000);
      const [, made] = await push(orders, row('a', 1), row('large', value), row('z', 1));
      const rejected = [{ id: 'large', reason: expect.any(String) }];
      const page = await pull(orders);
      // Its bytes end the page.
      expect(page).toMatchObject({ changes: [{ id: 'a' }], rejected, more: true });
      expect(await pull(orders, page.checkpoint)).toMatchObject({
        ...{ changes: [{ id: 'z' }], more: false },
      });
      const [refused] = await push(orders, row('large', 2));
      expect(refused).toEqual({ rejected: { reason: rejected[0]?.reason } });
      const base = versionOf(made);
      expect(await push(orders, row('large', 2, { base }))).toEqual([
        { version: expect.any(String) },
      ]);
    });

    test('has nothing of a collection that nobody has written', async () => {
      const empty = await pull(anyCollection());
      expect(empty).toMatchObject({ changes: [], more: false });
      expect(empty.reset).toBeUndefined();
    });

    test('returns a document as it was put, the order of its fields included', async () => {
      const collection = anyCollection();
      const document = { z: 1, _id: 'a', b: [{ y: null, x: 1e-300 }], '': '\u2028"\\u0000' };
      await push(collection, { id: 'a', key: 'k', document });
      const { changes } = await pull(collection);
      expect(JSON.stringify(changes[0]?.document)).toBe(JSON.stringify(document));
      expect(changes[0]?.key).toBe('k');
    });

    test('accepts the first document, and then only what derives from its newest version', async () => {
      const collection = anyCollection();
      const first = await pushOne(collection, row('a', 1));
      const second = await pushOne(collection, row('a', 2, { base: first }));
      const [stale, blind] = await push(
        collection,
        row('a', 3, { base: first }),
        row('a', 4, { key: 'k' }),
      );
      const conflict = { id: 'a', version: second, document: { _id: 'a', value: 2 } };
      expect(stale).toMatchObject({ conflict });
      expect(blind).toMatchObject({ conflict });
      expect((await pull(collection)).changes).toHaveLength(1);
    });

    test('keeps deleted documents as tombstones, and lets them come to life again', async () => {
      const collection = anyCollection();
      const first = await pushOne(collection, row('a', 1));
      const deleted = await pushOne(collection, row('a', undefined, { base: first }));
      expect((await pull(collection)).changes).toMatchObject([
        { id: 'a', version: deleted, deleted: true },
      ]);
      await pushOne(collection, row('a', 2));
      expect((await pull(collection)).changes).toMatchObject([{ document: { value: 2 } }]);
    });

    test('accepts the deletion of a document that is deleted or missing, without a change', async () => {
      const collection = anyCollection();
      const first = await pushOne(collection, row('a', 1));
      const deleted = await pushOne(collection, row('a', undefined, { base: first }));
      const before = await pull(collection);
      expect(await pushOne(collection, row('a', undefined, { base: first }))).toBe(deleted);
      await pushOne(collection, row('never', undefined, { base: 'x' }));
      expect(await pull(collection)).toEqual(before);
    });

    test('accepts as new what conflicted with a document that it never had', async () => {
      const collection = anyCollection();
      const [lost] = await push(collection, row('a', 1, { base: '9-lost' }));
      expect(lost).toMatchObject({ conflict: { id: 'a', deleted: true } });
      const { version } = (lost as { conflict: { version: string } }).conflict;
      await pushOne(collection, row('a', 1, { base: version }));
    });

    test('makes a push with the same key once', async () => {
      const collection = anyCollection();
      const mine = row('a', 1);
      const [first, again] = await push(collection, mine, mine);
      expect(again).toEqual(first);
      const second = await pushOne(collection, row('a', 2, { base: versionOf(first) }));
      expect(await push(collection, mine)).toEqual([
        { version: second, document: { _id: 'a', value: 2 }, made: versionOf(first) },
      ]);
      await pushOne(collection, row('a', undefined, { base: second }));
      expect(await push(collection, mine)).toEqual([first]);
      expect((await pull(collection)).changes).toMatchObject([{ deleted: true }]);
    });

    test('remembers the last eight keys of a document', async () => {
      const collection = anyCollection();
      const rows = Array.from({ length: 9 }, (_, value) => row('a', value));
      let base: string | undefined;
      for (const each of rows) base = await pushOne(collection, { ...each, base });
      const [oldest, second] = await push(collection, rows[0]!, rows[1]!);
      expect(oldest).toHaveProperty('conflict');
      expect(second).toMatchObject({ version: base });
    });

    test('answers each row of a push, in order', async () => {
      const collection = anyCollection();
      const results = await push(collection, row('b', 1), row('a', 1), row('b', 2), row('c', 1));
      expect(results.map((result) => Object.keys(result)[0])).toEqual([
        ...['version', 'version', 'conflict', 'version'],
      ]);
    });

    test('changes nothing where another version is present than was checked', async () => {
      const collection = anyCollection();
      const first = await pushOne(collection, row('a', 1, { seen: '0' }));
      const second = await pushOne(collection, row('a', 2, { base: first, seen: first }));
      const late = row('a', 3, { base: second, seen: first });
      expect(await push(collection, late, row('a', undefined, { seen: '0' }))).toEqual([
        { stale: true },
        { stale: true },
      ]);
      expect((await store().read(collection, ['a', 'b']))[0]).toMatchObject({ version: second });
    });

    test('reads rows with their keys, deleted ones included', async () => {
      const collection = anyCollection();
      const first = await pushOne(collection, row('a', 1, { key: 'k1' }));
      await push(collection, row('a', undefined, { base: first, key: 'k2' }), row('b', 2));
      const rows = await store().read(collection, ['b', 'a', 'missing', 'a', 'nul\0']);
      expect(new Map(rows.map((each) => [each.id, each]))).toMatchObject(
        new Map<string, object>([
          ['a', { document: null, keys: ['k2', 'k1'] }],
          ['b', { document: { _id: 'b', value: 2 } }],
        ]),
      );
      expect(rows).toHaveLength(2);
    });

    test('pages by limit: each document once, and changed ones again', async () => {
      const collection = anyCollection();
      const ids = ['a', 'b', 'c', 'd', 'e'];
      const [a] = await push(collection, ...ids.map((id) => row(id, 1)));
      const one = await pull(collection, undefined, 2);
      expect(one).toMatchObject({ more: true, changes: [{ id: 'a' }, { id: 'b' }] });
      await pushOne(collection, row('a', 2, { base: versionOf(a) }));
      const two = await pull(collection, one.checkpoint, 3);
      expect(two).toMatchObject({ more: true, changes: [{ id: 'c' }, { id: 'd' }, { id: 'e' }] });
      const three = await pull(collection, two.checkpoint, 3);
      expect(three).toMatchObject({ more: false, changes: [{ id: 'a' }] });
      expect(await pull(collection, three.checkpoint)).toEqual({
        ...{ changes: [], more: false, checkpoint: three.checkpoint },
      });
    });

    test('pages by bytes, and never sends an empty page before the end', async () => {
      const collection = anyCollection();
      const large = 'x'.repeat(600_000);
      for (const id of ['a', 'b', 'c']) await push(collection, row(id, large.repeat(2)));
      for (const id of ['d', 'e', 'f']) await push(collection, row(id, large));
      const sizes: number[] = [];
      for (let after: string | undefined, more = true; more; ) {
        const page = await pull(collection, after);
        sizes.push(page.changes.length);
        ({ more, checkpoint: after } = page);
      }
      expect(sizes).toEqual([1, 1, 1, 2, 1]);
    });

    test('begins from the start for a checkpoint of another history', async () => {
      const [mine, other] = [anyCollection(), anyCollection()];
      for (const collection of [mine, other]) await push(collection, row('a', 1), row('b', 1));
      const { checkpoint } = await pull(mine, undefined, 1);
      for (const after of [
        (await pull(other)).checkpoint, // of another collection
        checkpoint.replace(/\d+$/, '999'), // of the future
        checkpoint.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
      ]) {
        const page = await pull(mine, after);
        expect(page).toMatchObject({ reset: true, changes: [{ id: 'a' }, { id: 'b' }] });
        expect((await pull(mine, page.checkpoint)).reset).toBeUndefined();
        expect(await store().watch(mine, after, never)).toBe(true);
      }
    });

    test('goes on without a reset from the empty beginning of a collection', async () => {
      const collection = anyCollection();
      const { checkpoint } = await pull(collection);
      await push(collection, row('a', 1));
      const page = await pull(collection, checkpoint);
      expect(page).toMatchObject({ changes: [{ id: 'a' }] });
      expect(page.reset).toBeUndefined();
    });

    test.each(['', 'x', '0', '.1', 'g.1', 'ab.-1', 'ab.1e3', `ab.${'9'.repeat(30)}`, "'; --.1"])(
      'refuses the checkpoint %j',
      async (after) => {
        const refused = { code: 'checkpoint_invalid' };
        await expect(pull(anyCollection(), after)).rejects.toMatchObject(refused);
        await expect(store().watch(anyCollection(), after, never)).rejects.toMatchObject(refused);
      },
    );

    test('watch resolves when something is newer, or the request is aborted', async () => {
      const collection = anyCollection();
      const { checkpoint: start } = await pull(collection);
      const changed = store().watch(collection, start, never);
      await push(anyCollection(), row('a', 1));
      await push(collection, row('a', 1));
      expect(await changed).toBe(true);
      expect(await store().watch(collection, start, never)).toBe(true);
      const { checkpoint } = await pull(collection);
      const leaving = new AbortController();
      const waiting = store().watch(collection, checkpoint, leaving.signal);
      leaving.abort();
      expect(await waiting).toBe(false);
      expect(await store().watch(collection, checkpoint, leaving.signal)).toBe(false);
    });
  });
}
