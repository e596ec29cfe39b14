import type { TabScope } from '../page/page.ts';

declare const window: TabScope;

/**
 * What a page changes before it ends: documents that the unload journal has room for, text that it has no room for, and
 * Blobs, which it cannot hold.
 */

/** How many acknowledged documents are missing or incomplete, by client and kind of change. */
export type Losses = Record<string, number>;

/** To be run in a page: opens a database for each client and kind. Nothing is saved by itself. */
export async function openAll(run: string): Promise<void> {
  window.opened = [];
  await Promise.all(
    ['connect', 'Database'].flatMap((door) =>
      ['small', 'large', 'blob'].map(async (kind) => {
        const name = `${run} ${door} ${kind}`;
        const db = door === 'connect' ? window.connect({ name }) : new window.Database({ name });
        const things = new db.Collection({
          name: 'things',
          type: 'DOCUMENT_BASED',
          save_timeout: 3600,
          save_directly_after: 1_000_000_000,
        });
        await things.ready;
        window.opened.push({ cell: `${door} ${kind}`, kind, things });
      }),
    ),
  );
}

/** To be run in a page: resolves when all changes are acknowledged. */
export async function changeAll(tab: string): Promise<void> {
  await Promise.all(
    window.opened.map(async ({ kind, things }: any) => {
      if (kind === 'small') {
        await Promise.all(
          Array.from({ length: 300 }, (_, n) => things.insert({ _id: `${tab}${n}`, n: -1 })),
        );
        await Promise.all(
          Array.from({ length: 300 }, (_, n) => things.update(`${tab}${n}`, { n })),
        );
        return;
      }
      const value = () =>
        kind === 'large' ? 'x'.repeat(1_000_000) : new Blob([new Uint8Array(100_000)]);
      await Promise.all(
        Array.from({ length: 3 }, (_, n) =>
          things.insert({ _id: `${tab}${n}`, n, value: value() }),
        ),
      );
    }),
  );
}

/** To be run in a page that has opened the databases: looks for what the tabs were acknowledged. */
export async function findLosses(tabs: readonly string[]): Promise<Losses> {
  const losses: Losses = {};
  for (const { cell, kind, things } of window.opened) {
    losses[cell] = 0;
    for (const tab of tabs)
      for (let n = 0; n < (kind === 'small' ? 300 : 3); n++) {
        const found = await things.get(`${tab}${n}`);
        const size = async () => {
          if (kind === 'large') return found.value.length === 1_000_000;
          if (kind === 'blob') return (await found.value.arrayBuffer()).byteLength === 100_000;
          return true;
        };
        if (!found || found.n !== n || !(await size())) losses[cell]++;
      }
  }
  return losses;
}
