import { expect, test } from 'vitest';
import { Database, memoryDriver } from '../src/index.ts';

test('smoke', async () => {
  for (const caching of [true, false]) {
    const storage = memoryDriver();
    const name = 'smoke' + caching;
    const db = new Database({ name, storage });
    const c = new db.Collection<{ n: number; at?: Date }>({
      name: 'a',
      type: 'DOCUMENT_BASED',
      caching,
      indicate_created_at: true,
      indicate_archived_timestamp: true,
    });
    const a = await c.insert({ n: 1, at: new Date(5) });
    expect(a).toEqual({
      _id: expect.any(String),
      _updated: false,
      _archived: false,
      _created_at: expect.any(Date),
      n: 1,
      at: new Date(5),
    });
    const many = await c.insertMany(Array.from({ length: 5000 }, (_, n) => ({ n })));
    expect(many.length).toBe(5000);
    expect(await c.count()).toBe(5001);
    expect((await c.filter({ n: { $lt: 10 } })).length).toBe(11);
    expect((await c.filter((d) => d.n < 10)).length).toBe(11);
    expect(await c.archive(a._id)).toBe(true);
    expect(await c.find({ n: 1 })).toMatchObject({ n: 1, _id: many[1]!._id });
    await c.save();
    expect((await c.filter((d) => d.n < 10, { archived: true })).length).toBe(11);
    expect(await c.patch(a._id, { 'x.y': 3 })).toMatchObject({ x: { y: 3 }, at: new Date(5) });
    const kv = new db.Collection({ name: 'kv', type: 'KEY_VALUE_BASED', caching });
    await kv.set('a.b[1].c', 4);
    expect(await kv.get('a')).toEqual({ b: [, { c: 4 }] });
    expect(await kv.push('a.l', 1)).toEqual([1]);
    await db.close();
    const db2 = new Database({ name, storage });
    const c2 = new db2.Collection<{ n: number; at?: Date }>({
      name: 'a',
      type: 'DOCUMENT_BASED',
      caching,
      indicate_created_at: true,
    });
    expect(await c2.count({}, { archived: true })).toBe(5001);
    expect(await c2.get(a._id)).toMatchObject({ x: { y: 3 }, at: new Date(5), _archived: true });
    if (caching) {
      await c2.ready;
      expect(c2.sync.find({ n: 7 })).toMatchObject({ n: 7 });
    }
    const bad = new db2.Collection({ name: 'a', type: 'DOCUMENT_BASED' });
    await expect(bad.insert({ f: () => 1 })).rejects.toMatchObject({
      code: 'value_unsupported',
      place: 'document.f',
    });
    await db2.close();
    await expect(c2.count()).rejects.toMatchObject({ code: 'closed' });
  }
});
