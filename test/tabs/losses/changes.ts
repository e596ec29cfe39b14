import type { TabScope } from '../page/page.ts';

declare const window: TabScope;

/**
 * The changes of a page before it ends, by kind: `small` documents with the default options; and,
 * in collections that do not save by themselves, `postponed` ones that the unload journal has room
 * for, `large` ones that it has no room for, and Blobs, which it cannot hold.
 */
const KINDS = ['small', 'postponed', 'large', 'blob'] as const;

/** How many acknowledged documents are missing or incomplete, by client and kind. */
export type Losses = Record<string, number>;

/**
 * `DATABASES='Database batch;encrypted batch'` opens these alone; `batch` is 50 kB at once,
 * postponed.
 */
const asked = process.env.DATABASES?.split(';');
const CELLS =
  asked ?? ['connect', 'Database'].flatMap((one) => KINDS.map((kind) => `${one} ${kind}`));

/** The databases of a run. */
export const databasesOf = (run: string) =>
  CELLS.map((cell) => {
    const [client, kind] = cell.split(' ') as [string, string];
    return { client, kind, name: `${run} ${cell}` };
  });

/** Runs in a page: opens the databases. */
export async function openAll(databases: ReturnType<typeof databasesOf>): Promise<void> {
  window.opened = await Promise.all(
    databases.map(async ({ client, kind, name }) => {
      const key = new Uint8Array(32).fill(4);
      const storage = client === 'encrypted' ? window.encrypted('indexeddb', { key }) : 'indexeddb';
      const db =
        client === 'Database' ? new window.Database({ name }) : window.connect({ name, storage });
      const never = { save_timeout: 3600, save_directly_after: 1_000_000_000 };
      const things = new db.Collection({
        name: 'things',
        type: 'DOCUMENT_BASED',
        ...(kind === 'small' ? {} : never),
      });
      await things.ready;
      return { cell: `${client} ${kind}`, kind, things };
    }),
  );
}

/** Runs in a page: resolves when all changes are acknowledged. */
export async function changeAll(tab: string): Promise<void> {
  await Promise.all(
    window.opened.map(async ({ kind, things }: any) => {
      if (kind === 'small' || kind === 'postponed') {
        const documents = Array.from({ length: 300 }, (_, n) => ({ _id: `${tab}${n}`, n: -1 }));
        await Promise.all(documents.map((document) => things.insert(document)));
        await Promise.all(documents.map(({ _id }, n) => things.update(_id, { n })));
        // Only the last ones: fewer than `save_directly_after`.
        for (const n of [0, 1, 2]) await things.insert({ _id: `${tab}last${n}`, n });
        return;
      }
      if (kind === 'batch') {
        const text = 'x'.repeat(450);
        await things.insertMany(
          Array.from({ length: 100 }, (_, n) => ({ _id: `${tab}${n}`, n, text })),
        );
        for (const n of [0, 1, 2]) await things.insert({ _id: `${tab}last${n}`, n });
        return;
      }
      const value = () =>
        kind === 'large' ? 'x'.repeat(600_000) : new Blob([new Uint8Array(100_000)]);
      await Promise.all(
        [0, 1, 2].map((n) => things.insert({ _id: `${tab}last${n}`, n, value: value() })),
      );
    }),
  );
}

/** Runs in a page with open databases: checks the acknowledged documents of the tabs. */
export async function findLosses(tabs: readonly string[]): Promise<Losses> {
  const losses: Losses = {};
  for (const { cell, kind, things } of window.opened) {
    const isWhole = async ({ value }: any) => {
      if (kind === 'large') return value.length === 600_000;
      if (kind === 'blob') return (await value.arrayBuffer()).byteLength === 100_000;
      return true;
    };
    const few = [0, 1, 2].map((n) => [`last${n}`, n] as const);
    const many = Array.from({ length: 300 }, (_, n) => [`${n}`, n] as const);
    const batch = many.slice(0, 100);
    const all: Record<string, readonly (readonly [string, number])[]> = {
      small: [...many, ...few],
      postponed: [...many, ...few],
      batch: [...batch, ...few],
    };
    const expected = all[kind] ?? few;
    losses[cell] = 0;
    for (const tab of tabs)
      for (const [id, n] of expected) {
        const found = await things.get(`${tab}${id}`);
        if (!found || found.n !== n || !(await isWhole(found))) losses[cell]++;
      }
  }
  return losses;
}
