import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Database, type DocumentCollection, memoryDriver } from '../../src/index.ts';
import { type UndoSnapshot, undo } from '../../src/undo/index.ts';

interface Shape {
  x: number;
  y?: number;
  label?: string | undefined;
  photo?: Blob;
  size?: { width: number; height: number };
}
type Shapes = DocumentCollection<Shape>;

let db: Database;
let shapes: Shapes;
/** Another handle, as another tab has: no history records it. */
let theirs: Shapes;

beforeEach(async () => {
  db = new Database({ name: crypto.randomUUID(), storage: memoryDriver() });
  const options = { name: 'shapes', type: 'DOCUMENT_BASED', activate_drop_method: true } as const;
  const indexes = [{ fields: 'label', unique: true }] as const;
  shapes = new db.Collection<Shape>({ ...options, indexes });
  theirs = new db.Collection<Shape>({ ...options, indexes });
  await theirs.insertMany([
    { _id: 'a', x: 0, y: 0, label: 'box' },
    { _id: 'b', x: 1 },
  ]);
});
afterEach(() => db.close());

const fields = async (id: string) => {
  const { _id, _updated, _archived, ...own } = (await theirs.get(id)) ?? {};
  return own;
};

describe('a history', () => {
  test('takes changes back and reapplies them, with labels', async () => {
    const history = undo(db, { collections: [shapes] });
    const snapshots: UndoSnapshot[] = [];
    const unsubscribe = history.subscribe((snapshot) => snapshots.push(snapshot));
    expect(await history.undo()).toBe(undefined);
    expect(await history.redo()).toBe(undefined);
    expect(snapshots).toEqual([]);
    await history.transaction('Move both', async (tx) => {
      await tx(shapes).patch('a', { x: 5 });
      await tx(shapes).patch('b', { $inc: { x: 5 } });
    });
    await shapes.update('a', { x: 6 });
    expect(history.getSnapshot()).toBe(history.getSnapshot());
    expect(await history.undo()).toEqual({ label: undefined, changed: 1, skipped: [] });
    expect(await fields('a')).toEqual({ x: 5, y: 0, label: 'box' });
    expect(await history.undo()).toEqual({ label: 'Move both', changed: 2, skipped: [] });
    expect([await fields('a'), await fields('b')]).toEqual([
      { x: 0, y: 0, label: 'box' },
      { x: 1 },
    ]);
    expect([history.can_undo, history.can_redo]).toEqual([false, true]);
    await history.redo();
    await history.redo();
    expect([await fields('a'), await fields('b')]).toEqual([{ x: 6 }, { x: 6 }]);
    unsubscribe();
    await history.undo();
    expect(snapshots.map((one) => Object.values(one))).toEqual([
      [true, false, 'Move both', undefined],
      [true, false, undefined, undefined],
      [true, true, 'Move both', undefined],
      [false, true, undefined, 'Move both'],
      [true, true, 'Move both', undefined],
      [true, false, undefined, undefined],
    ]);
  });

  test('a new change forgets what was undone; nothing changed is no step', async () => {
    const history = undo(db, { collections: [shapes] });
    await shapes.patch('a', { x: 5 });
    await history.undo();
    expect(await shapes.patch('none', { x: 1 })).toBe(undefined);
    expect(await shapes.patch('a', { x: 0 })).toMatchObject({ x: 0 });
    expect(await shapes.archive('none')).toBe(false);
    expect(await shapes.deleteMany({ x: 99 })).toBe(0);
    expect([history.can_undo, history.can_redo]).toEqual([false, true]);
    await shapes.patch('a', { x: 7 });
    expect([history.can_undo, history.can_redo]).toEqual([true, false]);
  });

  test('methods answer and refuse as they do without it', async () => {
    const history = undo(db, { collections: [shapes] });
    expect(await shapes.insert({ _id: 'c', x: 3 })).toMatchObject({ _id: 'c', x: 3 });
    expect(await shapes.insertMany([{ x: 4 }, { x: 4 }])).toHaveLength(2);
    expect(await shapes.patchMany({ x: 4 }, { $inc: { x: 1 } })).toBe(2);
    expect(await shapes.patchOne({ x: 5 }, { x: 6 })).toMatchObject({ x: 6 });
    expect(await shapes.archive('c')).toBe(true);
    expect(await shapes.unarchive('c')).toBe(true);
    expect(await shapes.modify('c', async (shape) => ({ ...shape, x: 9 }))).toMatchObject({ x: 9 });
    expect(await shapes.modify('c', () => undefined)).toMatchObject({ x: 9 });
    expect(await shapes.modify('none', () => undefined)).toBe(undefined);
    expect(await shapes.deleteOne({ x: 9 })).toMatchObject({ _id: 'c' });
    expect(await shapes.deleteMany(({ x }) => x > 4)).toBe(2);
    await expect(shapes.insert({ _id: 'a', x: 1 })).rejects.toMatchObject({ code: 'id_taken' });
    const taken = { code: 'unique_violation' };
    await expect(shapes.patch('b', { label: 'box' })).rejects.toMatchObject(taken);
    await expect(shapes.patch('', { x: 1 })).rejects.toMatchObject({ code: 'id_invalid' });
    const upserts = shapes.upsertMany(5 as never);
    await expect(upserts).rejects.toMatchObject({ code: 'document_invalid' });
    await expect(shapes.deleteMany({ $bad: 1 } as never)).rejects.toMatchObject({
      code: 'operator_unknown',
    });
    for (let steps = 0; steps < 9; steps++) expect((await history.undo())?.skipped).toEqual([]);
    expect(history.can_undo).toBe(false);
    expect(await theirs.filter({}, { archived: true, select: ['x'] })).toEqual([
      { _id: 'a', x: 0 },
      { _id: 'b', x: 1 },
    ]);
  });

  test('calls that nobody awaited take effect in order, and reads and saves wait for them', async () => {
    const history = undo(db, { collections: [shapes] });
    const document = { _id: 'new', x: 1 };
    shapes.upsert(document);
    document.x = 2;
    shapes.patch('new', { $inc: { x: 10 } });
    shapes.patchMany({ x: 11 }, { y: 11 });
    expect(await shapes.get('new')).toMatchObject({ x: 11, y: 11 });
    shapes.delete('new');
    await shapes.save();
    expect(await theirs.has({ _id: 'new' })).toBe(false);
    await Promise.all([history.undo(), history.undo(), history.undo()]);
    expect(await fields('new')).toEqual({ x: 1 });
    await db.transaction((tx) =>
      Promise.all([
        tx(shapes).patch('a', { x: 1 }),
        tx(shapes).patch('a', { $mul: { x: 3 } }),
        tx(shapes).filter({ x: 3 }),
      ]).then(([, , found]) => expect(found).toHaveLength(1)),
    );
    await history.undo();
    expect(await fields('a')).toMatchObject({ x: 0 });
  });

  test('backups, functions and transactions come after calls that nobody awaited', async () => {
    const history = undo(db, { collections: [shapes] });
    shapes.patch('a', { x: 5 });
    const backup = await shapes.createBackup();
    shapes.patch('a', { x: 6 });
    await shapes.loadBackup(backup);
    expect(await fields('a')).toMatchObject({ x: 5 });
    shapes.patch('a', { x: 7 });
    await shapes.modify('a', (shape) => ({ ...shape, x: shape.x + 1 }));
    expect(await fields('a')).toMatchObject({ x: 8 });
    for (const transaction of [
      (run: Parameters<Database['transaction']>[0]) => db.transaction(run),
      (run: Parameters<Database['transaction']>[0]) => history.transaction('Add', run),
    ]) {
      shapes.patch('a', { x: 10 });
      await transaction((tx) => tx(shapes).patch('a', { $inc: { x: 1 } }));
      expect(await fields('a')).toMatchObject({ x: 11 });
    }
    shapes.patch('a', { x: 12 });
    const file = await new Response(await db.exportAll()).blob();
    shapes.patch('a', { x: 13 });
    await db.importAll(file);
    expect(await fields('a')).toMatchObject({ x: 12 });
  });

  test('a transaction refuses what it refuses without it, and copies what it is given', async () => {
    const history = undo(db, { collections: [shapes] });
    const shape = { _id: 'new', x: 1 };
    const misused = { code: 'transaction_misused' };
    await expect(db.transaction((tx) => void tx(shapes).upsert(shape))).rejects.toMatchObject(
      misused,
    );
    const half = db.transaction(async (tx) => {
      tx(shapes).patch('a', { x: 1 });
      await tx(shapes).patch('a', { x: 2 });
      tx(shapes).patch('a', { x: 3 });
    });
    await expect(half).rejects.toMatchObject(misused);
    expect(await theirs.filter({}, { select: ['x'] })).toEqual([
      { _id: 'a', x: 0 },
      { _id: 'b', x: 1 },
    ]);
    const none = db.transaction(undefined as never);
    await expect(none).rejects.toMatchObject({ code: 'value_unsupported' });
    expect(history.can_undo).toBe(false);
    await db.transaction(async (tx) => {
      const upsert = tx(shapes).upsert(shape);
      shape.x = 2;
      await upsert;
    });
    expect(await fields('new')).toEqual({ x: 1 });
  });

  test('a call whose documents others change again and again is made in the end', async () => {
    undo(db, { collections: [shapes] });
    let left = 28; // four for each time
    const everyone = () => {
      if (left-- > 0) theirs.patch('a', { $inc: { y: 1 } });
      return true;
    };
    expect(await shapes.patchMany(everyone, { x: 7 })).toBe(2);
    expect(await fields('a')).toMatchObject({ x: 7, y: 28 });
  });

  test('a transaction that ran again is one step', async () => {
    const history = undo(db, { collections: [shapes] });
    let times = 0;
    await db.transaction(async (tx) => {
      const { x } = (await tx(shapes).get('a')) as Shape;
      if (++times === 1) await theirs.patch('a', { x: 50 });
      await tx(shapes).patch('a', { x: x + 1 });
      await tx(theirs).patch('b', { x: 9 });
    });
    expect(times).toBe(2);
    await expect(
      db.transaction(async (tx) => {
        await tx(shapes).delete('a');
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await history.undo()).toMatchObject({ changed: 1, skipped: [] });
    expect([await fields('a'), await fields('b')]).toMatchObject([{ x: 50 }, { x: 9 }]);
    expect(history.can_undo).toBe(false);
  });

  test('leaves what others changed since, and says so', async () => {
    const history = undo(db, { collections: [shapes] });
    await shapes.patch('a', { x: 5, y: 5, size: { width: 1, height: 1 } });
    await shapes.patch('a', { 'size.width': 2, 'size.height': 2 });
    await theirs.patch('a', { y: 7, 'size.height': 3, label: 'theirs' });
    const kept = { collection: 'shapes', id: 'a', reason: 'changed' };
    expect(await history.undo()).toEqual({
      label: undefined,
      changed: 1,
      skipped: [{ ...kept, path: 'size.height' }],
    });
    const size = { width: 1, height: 3 };
    expect(await fields('a')).toEqual({ x: 5, y: 7, size, label: 'theirs' });
    expect((await history.undo())?.skipped).toEqual([
      { ...kept, path: 'y' },
      { ...kept, path: 'size' },
    ]);
    expect(await fields('a')).toEqual({ x: 0, y: 7, size, label: 'theirs' });
    // What was not taken back is not reapplied.
    await history.redo();
    expect(await fields('a')).toEqual({ x: 5, y: 7, size, label: 'theirs' });
    // Somebody else has taken it back.
    await theirs.patch('a', { x: 0 });
    expect(await history.undo()).toEqual({ label: undefined, changed: 0, skipped: [] });
  });

  test('a document that others changed is not deleted', async () => {
    const history = undo(db, { collections: [shapes] });
    const { _id } = await shapes.insert({ x: 1 });
    await theirs.patch(_id, { y: 1 });
    const skipped = [{ collection: 'shapes', id: _id, reason: 'changed' }];
    expect(await history.undo()).toEqual({ label: undefined, changed: 0, skipped });
    expect([history.can_undo, history.can_redo]).toEqual([false, false]);
    await shapes.delete('a');
    await theirs.insert({ _id: 'a', x: 100 });
    expect((await history.undo())?.skipped).toEqual([{ ...skipped[0], id: 'a' }]);
    expect(await fields('a')).toEqual({ x: 100 });
  });

  test('what was deleted comes back under its id, archived as it was', async () => {
    await theirs.archive('b');
    const history = undo(db, { collections: [shapes] });
    await shapes.deleteMany({}, { archived: true });
    await history.undo();
    expect(await theirs.get('a')).toMatchObject({ x: 0, label: 'box', _archived: false });
    expect(await theirs.get('b')).toMatchObject({ x: 1, _archived: true });
    await history.redo();
    expect(await theirs.count({}, { archived: true })).toBe(0);
  });

  test('compares Blobs by their bytes', async () => {
    const history = undo(db, { collections: [shapes] });
    await shapes.patch('a', { photo: new Blob(['old']) });
    await shapes.patch('a', { photo: new Blob(['new']), x: 2 });
    await shapes.patch('a', { x: 3, photo: new Blob(['new']) });
    await history.undo();
    await history.undo();
    expect(await (await theirs.get('a'))?.photo?.text()).toBe('old');
    await theirs.patch('a', { photo: new Blob(['theirs']) });
    expect((await history.undo())?.skipped).toMatchObject([{ path: 'photo' }]);
  });

  test('keeps `limit` steps, and none after clear()', async () => {
    const history = undo(db, { collections: [shapes], limit: 2 });
    for (const x of [1, 2, 3]) await shapes.patch('a', { x });
    await history.undo();
    await history.undo();
    expect(await history.undo()).toBe(undefined);
    expect(await fields('a')).toMatchObject({ x: 1 });
    history.clear();
    expect(history.getSnapshot()).toEqual({
      can_undo: false,
      can_redo: false,
      undo_label: undefined,
      redo_label: undefined,
    });
  });

  test('stop() gives the methods back, with another history around', async () => {
    const before = [shapes.patch, shapes.get, shapes.save, db.transaction, db.close];
    const first = undo(db, { collections: [shapes] });
    const second = undo(db, { collections: [shapes] });
    await shapes.patch('a', { x: 5 });
    await second.undo();
    expect(await fields('a')).toMatchObject({ x: 0 });
    expect((await first.undo())?.skipped).toEqual([]);
    first.stop();
    await shapes.patch('a', { x: 6 });
    expect([first.can_undo, second.can_undo]).toEqual([false, true]);
    second.stop();
    await shapes.patch('a', { x: 7 });
    expect(await second.undo()).toBe(undefined);
    const alone = undo(db, { collections: [shapes] });
    alone.stop();
    const other = undo(db, { collections: [theirs] });
    other.stop();
    expect([theirs.patch, theirs.get, theirs.save]).toEqual(before.slice(0, 3));
  });

  test('records keys and values', async () => {
    const values = new db.Collection({ name: 'values', type: 'KEY_VALUE_BASED' });
    await values.set('theme.dark', false);
    const history = undo(db, { collections: [values, shapes] });
    await db.transaction(async (tx) => {
      await tx(values).set('theme.dark', true);
      await tx(values).push('recent', 'a');
      await tx(shapes).patch('a', { x: 1 });
    });
    await values.increase('visits', 3);
    await values.modify<string[]>('recent', (list = []) => [...list, 'b']);
    await values.set('nothing', undefined);
    expect(await values.get('recent')).toEqual(['a', 'b']);
    for (let steps = 0; steps < 4; steps++) await history.undo();
    expect(await values.entries()).toEqual([['theme', { dark: false }]]);
    expect(await fields('a')).toMatchObject({ x: 0 });
    for (let steps = 0; steps < 4; steps++) await history.redo();
    expect(await values.has('nothing')).toBe(true);
    expect(await values.get('visits')).toBe(3);
    await expect(values.set('a..b', 1)).rejects.toMatchObject({ code: 'key_invalid' });
  });
});

describe('what cannot be undone', () => {
  test('undo_gone: all of it was deleted, or its collection dropped; the step is forgotten', async () => {
    const history = undo(db, { collections: [shapes] });
    await shapes.patch('b', { x: 3 });
    await history.transaction('Move the box', (tx) => tx(shapes).patch('a', { x: 5 }));
    await theirs.delete('a');
    const error = { name: 'CollectionError', code: 'undo_gone', place: 'shapes' };
    await expect(history.undo()).rejects.toMatchObject({ ...error, message: /"Move the box"/ });
    expect(await history.undo()).toMatchObject({ changed: 1 });
    expect([history.can_undo, history.can_redo]).toEqual([false, true]);
    await shapes.patch('b', { x: 4 });
    await theirs.Drop();
    await expect(history.undo()).rejects.toMatchObject({
      ...error,
      cause: { code: 'collection_dropped' },
    });
    expect(history.can_undo).toBe(false);
  });

  test('a step that would violate an index stays, and can be undone later', async () => {
    const history = undo(db, { collections: [shapes] });
    await shapes.patch('a', { label: 'crate' });
    await theirs.patch('b', { label: 'box' });
    await expect(history.undo()).rejects.toMatchObject({ code: 'unique_violation' });
    expect(history.can_undo).toBe(true);
    await theirs.patch('b', { label: 'other' });
    expect(await history.undo()).toMatchObject({ changed: 1 });
    expect(await fields('a')).toMatchObject({ label: 'box' });
  });

  test('options are checked', async () => {
    const other = new Database({ name: 'other', storage: 'memory' });
    const foreign = new other.Collection({ name: 'shapes', type: 'DOCUMENT_BASED' });
    const given: [unknown, string, string][] = [
      [undefined, 'option_invalid', 'undo(db, options)'],
      [{}, 'option_missing', 'collections'],
      [{ collections: [] }, 'option_invalid', 'collections'],
      [{ collections: ['shapes'] }, 'option_invalid', 'collections'],
      [{ collections: [foreign] }, 'option_invalid', 'collections'],
      [{ collections: [shapes], limit: 0 }, 'option_invalid', 'limit'],
      [{ collections: [shapes], limits: 5 }, 'option_unknown', 'limits'],
    ];
    for (const [options, code, place] of given)
      expect(() => undo(db, options as never)).toThrow(expect.objectContaining({ code, place }));
    await other.close();
  });
});
