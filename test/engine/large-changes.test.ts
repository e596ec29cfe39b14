import { afterEach, expect, test, vi } from 'vitest';
import { Database } from '../../src/index.ts';
import { SecondaryIndex } from '../../src/query/index/secondary-index.ts';
import { Random } from '../setup/random.ts';

interface Row {
  n: number;
  tags: string[];
  code: number;
  open?: boolean;
  at?: RegExp;
}

const COUNT = 2000;
const random = new Random(7);
const rows = Array.from({ length: COUNT }, (_, n) => ({
  _id: `r${n}`,
  n: random.below(50),
  tags: [`t${n % 7}`, `t${n % 3}`],
  code: n,
  ...(n % 5 === 0 && { open: true }),
  // Without a key in an index.
  ...(n % 400 === 0 && { at: /x/ }),
}));

afterEach(() => vi.restoreAllMocks());

async function twoCollections() {
  const db = new Database({ name: `large changes ${crypto.randomUUID()}`, storage: 'memory' });
  const options = { type: 'DOCUMENT_BASED', caching: true, save_timeout: 3600 } as const;
  const indexed = new db.Collection<Row>({
    ...{ name: 'indexed', ...options },
    indexes: [
      ...['n', 'at', { fields: ['tags'], multi: true }, { fields: ['code'], unique: true }],
      { fields: ['n', 'code'], where: { open: true } },
    ] as never,
  });
  const plain = new db.Collection<Row>({ name: 'plain', ...options });
  for (const one of [indexed, plain]) await one.insertMany(rows as never);
  await indexed.filter({ n: 1 });
  return { db, indexed, plain };
}

type Both = Awaited<ReturnType<typeof twoCollections>>;
type Rows = Both['plain'];

const QUERIES = [
  [{ n: { $gte: 10, $lt: 20 } }, { sort: { n: -1, code: 1 } }],
  [{ tags: 't1' }, { sort: { code: 1 } }],
  [{ code: { $gt: 100 } }, { sort: { code: -1 }, limit: 30 }],
  [{ open: true, n: { $lt: 30 } }, { sort: { n: 1, code: 1 } }],
  [{ at: { $exists: true } }, { sort: { code: 1 } }],
] as const;

async function expectSame({ indexed, plain }: Both): Promise<void> {
  for (const [criteria, options] of QUERIES) {
    const read = (from: Rows) => from.filter(criteria as never, options as never);
    expect(await read(indexed)).toEqual(await read(plain));
  }
}

test.each<[string, (collection: Rows, db: Database) => Promise<unknown>]>([
  ['patchMany', (all) => all.patchMany({}, { $inc: { n: 3 } })],
  ['patchMany of a field of no index', (all) => all.patchMany({}, { text: 'x' } as never)],
  ['patchMany of tags', (all) => all.patchMany({ n: { $gte: 2 } }, { $push: { tags: 't9' } })],
  ['patchMany of what an index has', (all) => all.patchMany({}, { open: true })],
  ['upsertMany', (all) => all.upsertMany(rows.map((row) => ({ ...row, n: 49 - row.n })))],
  ['deleteMany', (all) => all.deleteMany({ n: { $gte: 5 } })],
  [
    'a transaction',
    (all, db) =>
      db.transaction(async (tx) => {
        await tx(all).deleteMany({ n: 4 });
        await tx(all).patchMany({}, { $inc: { n: -1 } });
      }),
  ],
])('an index most of whose records change is loaded anew: %s', async (_, change) => {
  const both = await twoCollections();
  await expectSame(both);
  const changed = (['replace', 'remove'] as const).map((name) =>
    vi.spyOn(SecondaryIndex.prototype, name),
  );
  for (const one of [both.indexed, both.plain]) await change(one, both.db);
  const isPlain = ({ definition }: SecondaryIndex<never>) => !definition.unique;
  const contexts = changed.flatMap(({ mock }) => mock.contexts as SecondaryIndex<never>[]);
  expect(contexts.filter(isPlain)).toEqual([]);
  await expectSame(both);
  // What comes behind a load.
  for (const one of [both.indexed, both.plain]) {
    await one.patch('r3', { n: 12, tags: ['t1'] });
    await one.delete('r5');
    await one.insert({ _id: 'new', n: 15, tags: [], code: -1, open: true });
  }
  await expectSame(both);
  await both.db.destroy();
});

test('a unique index refuses a large change as a whole', async () => {
  const both = await twoCollections();
  const before = await both.indexed.filter({});
  await expect(both.indexed.patchMany({}, { code: 7 })).rejects.toThrow('unique');
  expect(await both.indexed.filter({})).toEqual(before);
  await expectSame(both);
  await both.db.destroy();
});
