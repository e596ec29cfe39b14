import { test } from 'vitest';
import { encrypted } from '../../src/encryption/index.ts';
import { connect } from '../../src/index.ts';

const key = new Uint8Array(32).fill(3);
const median = (all: number[]) => all.toSorted((a, b) => a - b)[all.length >> 1] as number;
const doc = (n: number) => ({ _id: `id${n}`, name: `Person ${n}`, email: `person${n}@example.org`, age: n % 90, city: ['Oslo', 'Rome', 'Lima'][n % 3], tags: ['a', 'b', `t${n % 50}`], note: 'Lorem ipsum dolor sit amet, consectetur adipiscing elit '.slice(0, 20 + (n % 36)) });

test('cost', { timeout: 600_000 }, async () => {
  const run = async (isSealed: boolean, count: number, round: number) => {
    const name = `cost ${isSealed} ${count} ${round} ${Math.random()}`;
    const options = () => ({ name, storage: isSealed ? encrypted('indexeddb', { key }) : ('indexeddb' as const) });
    const db = connect(options());
    const people = new db.Collection({ name: 'people', type: 'DOCUMENT_BASED', indexes: ['city', 'age'] });
    await people.insert({ _id: 'first' });
    await db.save();
    const documents = Array.from({ length: count }, (_, n) => doc(n));
    const t0 = performance.now();
    await people.insertMany(documents);
    const t1 = performance.now();
    await db.save();
    const t2 = performance.now();
    await db.close();
    const t3 = performance.now();
    const again = connect(options());
    const opened = new again.Collection({ name: 'people', type: 'DOCUMENT_BASED', indexes: ['city', 'age'] });
    await opened.ready;
    const t4 = performance.now();
    await opened.count();
    const found = await opened.filter({ city: 'Oslo' }, { limit: 10, sort: { age: 1 } });
    const t5 = performance.now();
    if (found.length !== 10) throw new Error('lost');
    await again.destroy();
    return { insert: t1 - t0, saved: t2 - t0, ready: t4 - t3, first: t5 - t3 };
  };
  for (const [count, rounds] of [[10_000, 9], [100_000, 5]] as const) {
    const all: Record<string, number[]>[] = [{}, {}];
    for (let round = 0; round <= rounds; round++)
      for (const which of round % 2 ? [0, 1] : [1, 0]) {
        const times = await run(which === 1, count, round);
        if (round > 0) for (const [k, v] of Object.entries(times)) ((all[which] as Record<string, number[]>)[k] ??= []).push(v);
      }
    for (const k of ['insert', 'saved', 'ready', 'first']) {
      const [p, e] = all.map((one) => median(one[k] as number[])) as [number, number];
      console.log(`COST ${count} ${k}: plain ${p.toFixed(0)} encrypted ${e.toFixed(0)} ratio ${(e / p).toFixed(2)}`);
    }
  }
});
