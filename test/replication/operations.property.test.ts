import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { http } from '../../src/replication/index.ts';
import type { LocalChange, Remote } from '../../src/replication/protocol/remote.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { closeDevices } from './device.ts';
import { documentedRemote } from './documented-remote.ts';
import { MemoryRemote } from './memory-remote.ts';
import { Phone } from './phone.ts';

afterEach(closeDevices);

function handled(): Remote<any> {
  const handler = createHandler({ store: memory(), authorize: () => true });
  const fetch = (url: string, init: RequestInit) => handler(new Request(url, init));
  return http({ url: 'https://example.com/orders', fetch: fetch as never });
}

const SERVERS: Record<string, () => Remote<any> | Promise<Remote<any>>> = {
  'applies operations': handled,
  'applies none': () => new MemoryRemote(),
  'is that of the documentation': documentedRemote as () => Remote<any>,
};

/** A server whose network delivers requests again, and lost ones, long after. */
class Echoing implements Remote<any> {
  readonly id = 'echoing';
  /** Whether requests do not arrive for now. */
  isCut = false;
  readonly #server: Remote<any>;
  readonly #past: (readonly LocalChange[])[] = [];

  constructor(server: Remote<any>) {
    this.#server = server;
  }

  pull(after: unknown, ask: Parameters<Remote['pull']>[1]) {
    return this.#server.pull(after, ask);
  }

  async push(rows: readonly LocalChange[], ask: Parameters<Remote['push']>[1]) {
    this.#past.push(structuredClone(rows));
    if (this.isCut) throw new TypeError('no connection');
    return this.#server.push(rows, ask);
  }

  /** @param back How many requests have come since. */
  async echo(back: number): Promise<void> {
    const rows = this.#past.at(-1 - back);
    if (rows) await this.#server.push(rows, { signal: new AbortController().signal });
  }
}

const PHONES = 2;

const command = fc.tuple(
  fc.constantFrom(
    ...['inc', 'inc', 'inc', 'push', 'set', 'add', 'max', 'pull'],
    ...['lose', 'lose', 'drop', 'drop', 'settle', 'reload', 'late', 'late'],
  ),
  fc.nat({ max: PHONES - 1 }),
  fc.integer({ min: 0, max: 3 }),
);

type Command = [what: string, phone: number, by: number];

/** What random commands seldom hit. */
const EXAMPLES: Command[][] = [
  // Another one has counted as far as a push that never arrived.
  [
    ['inc', 1, 0],
    ['drop', 1, 0],
    ['inc', 0, 0],
  ],
  // A push arrives behind the next one, which had its operation too.
  [
    ['inc', 1, 0],
    ['drop', 1, 0],
    ['inc', 1, 0],
    ['settle', 1, 0],
    ['late', 1, 1],
  ],
];

/** What commuting operations make of a document, in any order. */
class Expected {
  n = 10;
  top = 0;
  readonly list: string[] = [];
  readonly tags = new Set<number>();
}

async function change(phone: Phone, kind: string, by: number, wanted: Expected, nth: number) {
  const { orders, device } = phone;
  if (kind === 'inc') {
    wanted.n += 1;
    const changes = { $inc: { n: 1 } };
    if (by % 4 === 0) await orders.patchMany({}, changes);
    else if (by % 4 === 1) await orders.patchOne({ _id: 'o' }, changes);
    else if (by % 4 === 2)
      await device.db.transaction(async (tx) => {
        await (tx(device.orders) as any).patch('o', { $inc: { n: 2 } });
        await (tx(device.orders) as any).patch('o', { $inc: { n: -1 } });
      });
    else await orders.patch('o', changes);
  } else if (kind === 'push') {
    wanted.list.push(`i${nth}`);
    await orders.patch('o', { $push: { 'deep.list': `i${nth}` } });
  } else if (kind === 'add') {
    wanted.tags.add(by);
    await orders.patch('o', { $addToSet: { tags: by } });
  } else if (kind === 'pull') {
    await orders.patch('o', { $pull: { none: by } });
  } else if (kind === 'max') {
    wanted.top = Math.max(wanted.top, by);
    await orders.patch('o', { $max: { top: by } });
  } else await orders.patch('o', { note: `n${nth}` });
}

for (const [kind, serverOf] of Object.entries(SERVERS))
  test(`operations of devices end as in any serial order, on a server that ${kind}`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 3, maxLength: 14, size: 'max' }),
        async (commands) => {
          const remote = new Echoing(await serverOf());
          const phones = Array.from({ length: PHONES }, () => new Phone(remote));
          const [first] = phones as [Phone];
          for (const { device } of phones) device.sync.pause();
          const wanted = new Expected();
          await first.orders.insert({ _id: 'o', n: 10, top: 0, deep: { list: [] }, tags: [] });
          for (const phone of phones) await phone.settled();
          for (const [nth, [what, who, by]] of commands.entries()) {
            const phone = phones[who] as Phone;
            if (what === 'lose') await phone.attempt('answer');
            else if (what === 'drop') {
              remote.isCut = true;
              await phone.attempt();
              remote.isCut = false;
            } else if (what === 'late') await remote.echo(by);
            else if (what === 'settle') await phone.settled();
            else if (what === 'reload') {
              await phone.device.db.save();
              await phone.reload();
              phone.device.sync.pause();
            } else await change(phone, what, by, wanted, nth);
          }
          for (let round = 0; round < 3; round++) for (const phone of phones) await phone.settled();
          for (const { device } of phones) {
            const { o } = (await device.all()) as any;
            expect(o).toMatchObject({ n: wanted.n, top: wanted.top });
            expect([...o.deep.list].sort()).toEqual([...wanted.list].sort());
            expect(new Set(o.tags)).toEqual(wanted.tags);
            expect(o.tags).toHaveLength(wanted.tags.size);
          }
          await closeDevices();
        },
      ),
      { numRuns: 40, examples: EXAMPLES.map((commands): [Command[]] => [commands]) },
    );
  }, 120_000);
