import { type Connection, connect, Database } from '../../../src/cairndb.ts';

/** What a page could do with a database. */
export interface FrameReport {
  readonly origin: string;
  /** The first error, with its code. */
  readonly failed?: string;
  readonly found?: readonly unknown[];
  readonly shown?: number | undefined;
  readonly storage?: string | undefined;
  readonly hasReason?: boolean;
  readonly ended?: string;
  /** How often the console of the page, not of a worker, said that data is in memory only. */
  readonly warnings: number;
}

let warnings = 0;

/** The whole life of a database: changes, a live query, a save, its end. */
async function live(db: Connection): Promise<Omit<FrameReport, 'origin' | 'warnings'>> {
  const things = new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  const all = things.live({});
  // A live query without a subscriber rests after a moment.
  all.subscribe(() => undefined);
  await all.ready;
  await things.insert({ _id: 'a' });
  await db.transaction((tx) => tx(things).insert({ _id: 'b' }));
  const found = (await things.filter({})).map(({ _id }) => _id);
  const shown = all.getSnapshot().data?.length;
  await db.save();
  await db.storage.estimate();
  await db.storage.status;
  const { storage, storage_reason: reason } = db.status;
  await db.destroy();
  return { found, shown, storage, hasReason: Boolean(reason), ended: db.status.state };
}

async function use(door: string, name: string): Promise<Omit<FrameReport, 'origin' | 'warnings'>> {
  try {
    return await live(
      door === 'Database' ? (new Database({ name }) as Connection) : connect({ name }),
    );
  } catch (error) {
    const { code, cause } = error as { code?: string; cause?: unknown };
    return { failed: `${code} ${error} ${cause}` };
  }
}

/** Tells the server what `#frame/<client>/<database>` comes to. */
export async function report(): Promise<void> {
  console.warn = (text) => {
    if (String(text).includes('in memory only')) warnings++;
  };
  const [, door = '', name = ''] = location.hash.split('/');
  const result = await use(door, name);
  const said: FrameReport = { origin: self.origin, warnings, ...result };
  const text = encodeURIComponent(JSON.stringify(said));
  // Not by `new URL(…, import.meta.url)`, which Vite takes for a file.
  const { origin } = new URL(location.href);
  await fetch(`${origin}/report/${door}/${text}`, { mode: 'no-cors' });
}
