/**
 * node program.mjs <directory> <command>: a process that has the database `shop` open.
 *
 * | Command | Does |
 * |---|---|
 * | `steps` | makes steps for ever, one atomic save each; prints `saved N`, or `refused CODE` and saves once more |
 * | `strict` | the same with `durability: 'strict'` |
 * | `hold` | prints `open`, and keeps the database open |
 * | `look` | closes the database as soon as it is open |
 * | `leave` | inserts an order and ends without a close |
 * | `signal` | inserts an order, prints `ready`, and closes the database at SIGTERM |
 */
import { Database } from '../../src/database.ts';
import { files } from '../../src/node/index.ts';
import { idOf, KEPT, ordersOf, textOf } from './shop-model.ts';

const [directory = '', command = ''] = process.argv.slice(2);
const durability = command === 'strict' ? 'strict' : 'relaxed';
const db = new Database({ name: 'shop', durability, storage: files(directory) });

try {
  await run();
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  console.log(`failed ${code} ${message}`);
}

async function run(): Promise<void> {
  await db.ready;
  if (command === 'look') return db.close();
  const orders = ordersOf(db, command === 'leave' ? 1 : undefined);
  if (command === 'hold') {
    await orders.count();
    console.log('open');
    setInterval(() => undefined, 60_000);
    return;
  }
  if (command === 'steps' || command === 'strict') return makeSteps(orders);
  await orders.insert({ n: 1, touched: 0, text: command });
  if (command !== 'signal') return;
  process.once('SIGTERM', () => void db.close().then(() => process.exit(0)));
  console.log('ready');
  setInterval(() => undefined, 60_000);
}

async function makeSteps(orders: ReturnType<typeof ordersOf>): Promise<void> {
  const last = await orders.find({}, { sort: { n: -1 } });
  for (let n = (last?.n ?? 0) + 1; ; n++) {
    await db.transaction(async (tx) => {
      await tx(orders).insert({ _id: idOf(n), n, touched: 0, text: textOf(n) });
      await tx(orders).patch(idOf(n - 1), { touched: n });
      await tx(orders).delete(idOf(n - KEPT));
    });
    await save();
    console.log(`saved ${n}`);
  }
}

async function save(): Promise<void> {
  for (;;) {
    try {
      return await db.save();
    } catch (error) {
      console.log(`refused ${(error as { code?: string }).code}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
