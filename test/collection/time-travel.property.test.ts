import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import {
  Database,
  type DocumentChange,
  type DocumentCollection,
  memoryDriver,
  type Stored,
} from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';

interface Thing {
  n: number;
  group?: string | null;
  list?: number[];
  at?: Date;
  pad?: string;
}

type Things = DocumentCollection<Thing>;
type Document = Stored<Thing>;

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Fills a segment by itself, so that segments are merged. */
const pad = 'p'.repeat(50_000);

const thing = fc.record<Thing>(
  {
    n: fc.integer({ min: 0, max: 3 }),
    group: fc.constantFrom('x', 'y', null),
    list: fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 2 }),
    at: fc.constantFrom(new Date(7), new Date(8)),
    pad: fc.constant(pad),
  },
  { requiredKeys: ['n'] },
);
const id = fc.constantFrom(...IDS);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constant('upsert' as const), id, thing }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('patch' as const), id, n: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constantFrom('delete', 'archive', 'unarchive'), id }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constantFrom('backup', 'save') }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constantFrom('load', 'forget', 'restore'), id, pick: fc.nat(9) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const criteria = fc.dictionary(
  fc.constantFrom('n', 'group', 'list', '_archived'),
  fc.oneof(fc.nat(3), fc.constantFrom('x', null), fc.record({ $gte: fc.nat(3) })),
  { maxKeys: 2 },
);
const query = fc.record({
  criteria,
  options: fc.record(
    { sort: fc.constantFrom({ n: 1 }, { n: -1, group: 1 }), skip: fc.nat(2), limit: fc.nat(4) },
    { requiredKeys: [] },
  ),
  archived: fc.constantFrom(true, false, 'only'),
});

/** What a caller copied at the moment of a backup. */
interface Remembered {
  readonly name: string;
  readonly documents: readonly Document[];
}

test('at() answers as a copy of that moment does, diff() as the comparison of two copies', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 25 }),
      fc.array(query, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      async (steps, queries, caching) => {
        const db = new Database({ name: 'travel', storage: memoryDriver() });
        const options = {
          name: 'things',
          type: 'DOCUMENT_BASED',
          caching,
          save_timeout: 3600,
        } as const;
        const things: Things = new db.Collection<Thing>({ ...options, indexes: ['n', 'group'] });
        const backups: Remembered[] = [];
        for (const one of steps) await perform(things, one, backups);
        const now = { name: undefined, documents: await allOf(things) };
        for (const { name, documents } of backups) {
          // A collection that holds the copy is asked the same.
          const copy = new db.Collection<Thing>({
            name: `copy of ${name}`,
            type: 'DOCUMENT_BASED',
            caching,
          });
          await copy.insertMany(documents);
          for (const { _id, _archived } of documents) if (_archived) await copy.archive(_id);
          const view = things.at(name);
          expect(await view.filter({}, { archived: true })).toEqual(documents);
          for (const each of IDS)
            expect(await view.get(each)).toEqual(documents.find(({ _id }) => _id === each));
          for (const { criteria: params, options: more, archived } of queries) {
            const given = { ...more, archived } as object;
            const expected = (await copy.filter(params, given)).map(({ _id }) => _id);
            expect((await view.filter(params, given)).map(({ _id }) => _id)).toEqual(expected);
            expect(await view.count(params, { archived } as object)).toBe(
              await copy.count(params, { archived } as object),
            );
          }
          for (const other of [...backups, now]) {
            const changes: DocumentChange<Thing>[] = [];
            for await (const change of things.diff(name, other.name)) changes.push(change);
            expect(sorted(changes.map(bare))).toEqual(
              sorted(naiveDiff(documents, other.documents)),
            );
            checkOrder(changes, documents, other.documents);
            for (const change of changes) checkPaths(change);
          }
        }
        await db.close();
      },
    ),
    runs(60),
  );
});

async function perform(things: Things, one: Step, backups: Remembered[]): Promise<void> {
  const picked = 'pick' in one ? backups[one.pick % Math.max(1, backups.length)] : undefined;
  switch (one.op) {
    case 'upsert':
      await things.upsert({ _id: one.id, ...one.thing });
      return;
    case 'patch':
      await things.patch(one.id, { n: one.n });
      return;
    case 'save':
      return things.save();
    case 'backup':
      backups.push({ documents: await allOf(things), name: await things.createBackup() });
      return;
    case 'load':
      if (picked) await things.loadBackup(picked.name);
      return;
    case 'forget':
      if (!picked) return;
      await things.deleteBackup(picked.name);
      backups.splice(backups.indexOf(picked), 1);
      return;
    case 'restore': {
      const document = picked?.documents.find(({ _id }) => _id === one.id);
      if (!picked || !document) return;
      expect(await things.restoreDocument(one.id, picked.name)).toEqual(document);
      expect(await things.get(one.id)).toEqual(document);
      return;
    }
    default:
      await things[one.op as 'delete' | 'archive' | 'unarchive']((one as { id: string }).id);
  }
}

async function allOf(things: Things): Promise<Document[]> {
  return things.filter({}, { archived: true });
}

/**
 * Type, id and versions of each change, by the order of the newer list; what it lacks by that of
 * the older.
 */
function bare(change: DocumentChange<Thing>) {
  const { type, id: key } = change;
  return {
    type,
    id: key,
    before: 'before' in change ? change.before : undefined,
    after: 'after' in change ? change.after : undefined,
  };
}

function naiveDiff(before: readonly Document[], after: readonly Document[]) {
  const changes = [...new Set([...before, ...after].map(({ _id }) => _id))].flatMap((key) => {
    const [was, is] = [before, after].map((all) => all.find(({ _id }) => _id === key));
    if (isDeepStrictEqual(was, is)) return [];
    return [{ type: !was ? 'added' : is ? 'changed' : 'removed', id: key, before: was, after: is }];
  });
  return changes;
}

/** Applying the paths to the older version makes the newer. */
function checkPaths(change: DocumentChange<Thing>): void {
  if (change.type !== 'changed') return;
  const made = structuredClone(change.before) as unknown as Record<string, unknown>;
  for (const field of change.changes) {
    const keys = field.path.split('.');
    const last = keys.pop() as string;
    let parent = made;
    for (const key of keys) parent = parent[key] as Record<string, unknown>;
    if ('after' in field) parent[last] = field.after;
    else delete parent[last];
  }
  expect(made).toEqual(change.after);
}

function sorted<C extends { readonly id: string }>(changes: C[]): C[] {
  return changes.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** What is there comes in the order of the newer list, what is gone in that of the older. */
function checkOrder(
  changes: readonly DocumentChange<Thing>[],
  before: readonly Document[],
  after: readonly Document[],
): void {
  const isGone = ({ type }: DocumentChange<Thing>) => type === 'removed';
  for (const [some, list] of [
    [changes.filter(isGone), before],
    [changes.filter((change) => !isGone(change)), after],
  ] as const) {
    const at = some.map(({ id: key }) => list.findIndex(({ _id }) => _id === key));
    expect(at).toEqual([...at].sort((a, b) => a - b));
  }
}
