import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Store } from '../../src/server/index.ts';
import { row, versionOf } from '../server/store-contract.ts';
import { connectionsTo, storeOn } from './connections.ts';
import { openSchema, type SchemaStore } from './stores.ts';

const WRITERS = 20;
const PUSHES = 25;
const COLLECTIONS = ['orders', 'customers'];

let opened: SchemaStore;

beforeAll(async () => {
  opened = await openSchema(WRITERS);
});

afterAll(() => opened.close());

const numberOf = (version: string): number => Number(version.split('-')[0]);

/** Adds 1 to a shared document, as often as others come first. */
async function increment(store: Store, collection: string): Promise<void> {
  for (;;) {
    const [present] = await store.read(collection, ['counter']);
    const value = Number(present?.document?.value ?? 0) + 1;
    const given = present ? { base: present.version } : {};
    const [result] = await store.push(collection, [row('counter', value, given)]);
    if (result && 'version' in result) return;
  }
}

test('20 writers at once: readers skip no change, and no increment is lost', async () => {
  const { store, schema } = opened;
  const accepted = new Map<string, string[]>(COLLECTIONS.map((each) => [each, []]));
  let writing = WRITERS;

  async function write(writer: number): Promise<void> {
    for (let push = 0; push < PUSHES; push++) {
      const collection = COLLECTIONS[(writer + push) % COLLECTIONS.length] as string;
      // in different orders, as would make row locks deadlock
      const ids = ['x', 'y', 'z'].map((each) => `shared ${each}`);
      if (writer % 2 === 1) ids.reverse();
      const own = `${writer} ${push}`;
      const rows = [...ids.map((id) => row(id, push)), row(own, push), row(`${own}'`, push)];
      const results = await store.push(collection, rows);
      accepted.get(collection)?.push(...results.slice(3).map(versionOf));
      if (push % 5 === 0) await increment(store, collection);
    }
    writing -= 1;
  }

  /** Pages with a connection of its own while others write, then to the end. */
  async function read(collection: string, limit: number): Promise<Map<string, string>> {
    const connections = connectionsTo(inject('postgres'), schema, 1);
    const reading = storeOn(connections);
    const held = new Map<string, string>();
    let last = 0;
    for (let after: string | undefined, more = true, ends = false; more || !ends; ) {
      // As of the request: what is written until the answer comes is not in it.
      ends = writing === 0;
      const page = await reading.pull(collection, after, limit);
      for (const { id, version } of page.changes) {
        expect(numberOf(version)).toBeGreaterThan(last);
        last = numberOf(version);
        held.set(id, version);
      }
      ({ checkpoint: after, more } = page);
      expect(page.reset).toBeUndefined();
    }
    await connections.end();
    return held;
  }

  const readers = COLLECTIONS.flatMap((each) => [1, 7, 100].map((limit) => read(each, limit)));
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  const [held] = await Promise.all([Promise.all(readers), Promise.all(writers)]);

  for (const [index, collection] of COLLECTIONS.entries()) {
    const { rows } = await opened.pool.query(
      'select id, version from cairn_rows where collection = $1',
      [collection],
    );
    const stored = new Map(rows.map(({ id, version }) => [id, version]));
    for (const version of accepted.get(collection) ?? []) {
      expect([...stored.values()]).toContain(version);
    }
    for (const reader of held.slice(index * 3, index * 3 + 3)) expect(reader).toEqual(stored);
  }
  const counters = await Promise.all(COLLECTIONS.map((each) => store.read(each, ['counter'])));
  const sum = counters.reduce((total, [each]) => total + Number(each?.document?.value), 0);
  expect(sum).toBe((WRITERS * PUSHES) / 5);
});
