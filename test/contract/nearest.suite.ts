import { describe, expect, test } from 'vitest';
import type { IndexOption } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { rejection, thrown } from './outcomes.ts';

interface Place {
  name?: string;
  at?: unknown;
  about?: unknown;
  size?: number;
}

const euclidean: IndexOption = { vector: 'at', dimensions: 2, metric: 'euclidean' };

const PLACES = [
  { _id: 'a', name: 'harbour', at: [0, 1], size: 1 },
  { _id: 'b', name: 'old harbour', at: new Float32Array([0, 2]), size: 2 },
  { _id: 'c', name: 'castle', at: [3, 0], size: 3 },
  { _id: 'd', name: 'castle of the harbour', at: [4, 4], size: 4 },
  { _id: 'e', name: 'nowhere', size: 5 },
  { _id: 'f', name: 'nothing', at: null, size: 6 },
];

const ids = (hits: readonly { readonly document: { readonly _id: string } }[]) =>
  hits.map(({ document }) => document._id);

/** nearest(), explainNearest(), hybrid(). */
export function nearestSuite(fixture: ClientFixture): void {
  const filled = async (indexes: IndexOption[] = [euclidean], name = 'things') => {
    const places = fixture.documents<Place>({ name, indexes });
    await places.insertMany(PLACES);
    return places;
  };

  describe('nearest', () => {
    test('finds the nearest by each metric, with scores', async () => {
      const places = await filled();
      const hits = await places.nearest([0, 0], { k: 3 });
      expect(ids(hits)).toEqual(['a', 'b', 'c']);
      expect(hits[0]?.document).toEqual({ ...PLACES[0], _archived: false, _updated: false });
      expect(hits.map(({ score }) => score)).toEqual([1 / 2, 1 / 3, 1 / 4]);
      expect(ids(await places.nearest(new Float32Array([4, 4])))).toEqual(['d', 'c', 'b', 'a']);

      const cosines = await filled([{ vector: 'at', dimensions: 2 }], 'cosines');
      const found = await cosines.nearest([1, 1]);
      expect(ids(found)).toEqual(['d', 'a', 'b', 'c']);
      expect(found.map(({ score }) => score.toFixed(3))).toEqual([
        '1.000',
        '0.707',
        '0.707',
        '0.707',
      ]);

      const dots = await filled([{ vector: 'at', dimensions: 2, metric: 'dot' }], 'dots');
      const products = await dots.nearest([1, 1]);
      expect(products.map(({ document, score }) => [document._id, score])).toEqual([
        ['d', 8],
        ['c', 3],
        ['b', 2],
        ['a', 1],
      ]);
    });

    test('follows changes, archived documents, and reopening', async () => {
      const places = await filled();
      await places.patch('d', { at: [0, 0] });
      await places.patch('a', { size: 9 });
      await places.delete('b');
      await places.archive('c');
      await places.insert({ _id: 'g', at: [0, 0.5] });
      await places.patch('e', { at: [9, 12] });
      const nearest = () => places.nearest([0, 0], { select: ['size'] });
      expect(await nearest()).toEqual([
        { document: { _id: 'd', size: 4 }, score: 1 },
        { document: { _id: 'g' }, score: 1 / 1.5 },
        { document: { _id: 'a', size: 9 }, score: 1 / 2 },
        { document: { _id: 'e', size: 5 }, score: 1 / 16 },
      ]);
      expect(ids(await places.nearest([0, 0], { archived: 'only' }))).toEqual(['c']);
      expect(ids(await places.nearest([0, 0], { archived: true, k: 2 }))).toEqual(['d', 'g']);
      await places.patch('d', { $unset: { at: '' } });
      expect(ids(await nearest())).toEqual(['g', 'a', 'e']);
      await places.save();
      await fixture.reopen();
      const again = fixture.documents<Place>({ indexes: [euclidean] });
      expect(ids(await again.nearest([0, 0]))).toEqual(['g', 'a', 'e']);
    });

    test('narrows by criteria, through an index and without one', async () => {
      const places = await filled([euclidean, 'size']);
      const bySize = { criteria: { size: { $gte: 2 } } };
      expect(ids(await places.nearest([0, 0], { ...bySize, k: 2 }))).toEqual(['b', 'c']);
      expect(await places.explainNearest([0, 0], bySize)).toMatchObject({
        index: 'at',
        vectors: 4,
        vectors_examined: 3,
        criteria: 'index',
        returned: 3,
      });
      const byName = { criteria: { name: { $regex: 'castle' } } };
      expect(ids(await places.nearest([0, 0], { ...byName, k: 1 }))).toEqual(['c']);
      expect(await places.explainNearest([0, 0], byName)).toMatchObject({
        vectors_examined: 4,
        criteria: 'documents',
        documents_examined: 4,
        returned: 2,
      });
      expect(await places.explainNearest([0, 0])).toMatchObject({ criteria: 'none', returned: 4 });
    });

    test('finds all that match, however few they are among the nearest', async () => {
      const places = fixture.documents<Place>({ indexes: [euclidean] });
      await places.insertMany(
        Array.from({ length: 200 }, (_, n) => ({ _id: `p${n}`, at: [n, 0], size: n })),
      );
      const criteria = { size: { $in: [150, 170, 190] } };
      expect(ids(await places.nearest([0, 0], { k: 2, criteria }))).toEqual(['p150', 'p170']);
      expect(ids(await places.nearest([0, 0], { k: 9, criteria }))).toEqual([
        'p150',
        'p170',
        'p190',
      ]);
    });

    test('takes an index that is declared later, and a path where there are several', async () => {
      await filled([]);
      const more: IndexOption[] = [euclidean, { vector: 'about.it', dimensions: 1, metric: 'dot' }];
      const again = fixture.documents<Place>({ indexes: more });
      await again.patch('a', { about: { it: [5] } });
      await again.patch('b', { about: { it: [6] } });
      expect(ids(await again.nearest([2], { path: 'about.it' }))).toEqual(['b', 'a']);
      expect(ids(await again.nearest([0, 0], { path: 'at', k: 1 }))).toEqual(['a']);
      expect(await rejection(again.nearest([0, 0]))).toMatchObject({
        code: 'option_missing',
        place: 'options.path',
      });
      expect(await rejection(again.nearest([0, 0], { path: 'size' }))).toMatchObject({
        code: 'option_invalid',
        place: 'options.path',
      });
    });

    test('refuses wrong vectors, and stores nothing then', async () => {
      const places = await filled([{ vector: 'at', dimensions: 2 }]);
      const wrong = [
        [1],
        [1, 2, 3],
        [1, Number.NaN],
        [1, Number.POSITIVE_INFINITY],
        [1, 1e300],
        [0, 0],
        [1, '2'],
        [1, null],
        [[1, 2]],
        'text',
        7,
        { x: 1, y: 2 },
        new Float32Array(3),
        new Uint8Array([1, 2]),
      ];
      const refused = { name: 'ValueError', code: 'vector_invalid' };
      for (const at of wrong) {
        expect(await rejection(places.insert({ at }))).toMatchObject(refused);
        expect(await rejection(places.insertMany([{ at: [1, 1] }, { at }]))).toMatchObject(refused);
        expect(await rejection(places.upsertMany([{ at: [1, 1] }, { at }]))).toMatchObject(refused);
        expect(await rejection(places.patch('a', { at }))).toMatchObject(refused);
        expect(await rejection(places.update('a', { at }))).toMatchObject(refused);
        expect(await rejection(places.patchMany({}, { at }))).toMatchObject(refused);
        if (at !== 'text' && at !== 7)
          expect(await rejection(places.nearest(at as number[]))).toMatchObject(refused);
      }
      expect(await rejection(places.patch('a', { $push: { at: 3 } }))).toMatchObject(refused);
      expect(await places.count()).toBe(PLACES.length);
      expect((await places.get('a'))?.at).toEqual([0, 1]);
      expect(ids(await places.nearest([0, 1], { k: 1 }))).toEqual(['a']);
      await places.insert({ _id: 'whole', at: [2, 0], about: 1 });
      expect(ids(await places.nearest([1, 0], { k: 1 }))).toEqual(['c']);
    });

    test('leaves out what was stored before the index was there', async () => {
      const places = fixture.documents<Place>({});
      await places.insertMany([
        { _id: 'a', at: [1, 0] },
        { _id: 'b', at: 'text' },
      ]);
      const again = fixture.documents<Place>({ indexes: [euclidean] });
      expect(ids(await again.nearest([0, 0]))).toEqual(['a']);
      await again.patch('b', { at: [0, 0] });
      expect(ids(await again.nearest([0, 0]))).toEqual(['b', 'a']);
    });

    test('refuses wrong declarations and options', async () => {
      const declared = (index: object) => () =>
        fixture.documents({ indexes: [index as IndexOption] });
      const place = 'indexes[0].';
      for (const [index, at] of [
        [{ vector: '_id', dimensions: 2 }, 'vector'],
        [{ vector: ['a'], dimensions: 2 }, 'vector'],
        [{ vector: 'at' }, 'dimensions'],
        [{ vector: 'at', dimensions: 0 }, 'dimensions'],
        [{ vector: 'at', dimensions: 1.5 }, 'dimensions'],
        [{ vector: 'at', dimensions: 10_000 }, 'dimensions'],
        [{ vector: 'at', dimensions: 2, metric: 'hamming' }, 'metric'],
      ] as const)
        expect(thrown(declared(index))).toMatchObject({ name: 'OptionError', place: place + at });
      const twice = [euclidean, { vector: 'at', dimensions: 3 }];
      expect(thrown(() => fixture.documents({ indexes: twice }))).toMatchObject({
        code: 'option_conflict',
        place: 'indexes[1]',
      });

      const places = await filled();
      for (const options of [{ k: 0 }, { k: 1.5 }, { k: 2000 }, { exact: 1 }, { path: 1 }])
        expect(await rejection(places.nearest([0, 0], options as object))).toMatchObject({
          code: 'option_invalid',
        });
      const criteria = { size: { $near: 1 } } as object;
      expect(await rejection(places.nearest([0, 0], { criteria }))).toMatchObject({
        name: 'CriteriaError',
      });
      const plain = fixture.documents({ name: 'plain', indexes: ['size'] });
      expect(await rejection(plain.nearest([0, 0]))).toMatchObject({
        code: 'option_missing',
        place: 'indexes',
      });
    });

    test('is refused in a transaction, whose changes the index does not know', async () => {
      const places = await filled();
      const inside = fixture.db.transaction(async (tx) => tx(places).nearest([0, 0]));
      expect(await rejection(inside)).toMatchObject({ code: 'transaction_misused' });
      await fixture.db.transaction(async (tx) => {
        await tx(places).patch('c', { at: [0, 0] });
      });
      expect(ids(await places.nearest([0, 0], { k: 1 }))).toEqual(['c']);
    });

    test('searches cells when asked to, and says how many are found', async () => {
      const places = fixture.documents<Place>({ indexes: [euclidean] });
      await places.insertMany(
        Array.from({ length: 400 }, (_, n) => ({ at: [n % 20, Math.floor(n / 20)], size: n })),
      );
      const ask = () => places.explainNearest([3.1, 4.2], { exact: false, k: 1 });
      let explained = await ask();
      while (!explained.approximate) explained = await ask();
      expect(explained.approximate.recall).toBeGreaterThan(0.9);
      expect(explained.vectors_examined).toBeLessThan(400);
      const [hit] = await places.nearest([3.1, 4.2], { exact: false, k: 1 });
      expect(hit?.document.at).toEqual([3, 4]);
    });
  });

  describe('hybrid', () => {
    test('makes one result of words and vectors', async () => {
      const places = await filled([euclidean, { text: ['name'] }]);
      const hits = await places.hybrid('castle', [0, 0], { select: ['size'] });
      expect(hits.map(({ document, text, vector }) => [document._id, text, vector])).toEqual([
        ['c', 1, 3],
        ['d', 2, 4],
        ['a', undefined, 1],
        ['b', undefined, 2],
      ]);
      expect(hits[0]).toEqual({
        document: { _id: 'c', size: 3 },
        score: 1 / 61 + 1 / 63,
        text: 1,
        vector: 3,
      });
      const criteria = { size: { $lt: 3 } };
      expect(ids(await places.hybrid('castle', [0, 0], { criteria }))).toEqual(['a', 'b']);
      expect(ids(await places.hybrid('harbour', [0, 0], { limit: 1 }))).toEqual(['a']);
      expect(await rejection(places.hybrid('castle', [0]))).toMatchObject({
        code: 'vector_invalid',
      });
      expect(await rejection(places.hybrid(7 as never, [0, 0]))).toMatchObject({
        code: 'option_invalid',
      });
    });

    test('needs both indexes', async () => {
      const places = await filled();
      expect(await rejection(places.hybrid('castle', [0, 0]))).toMatchObject({
        code: 'option_missing',
      });
    });
  });
}
