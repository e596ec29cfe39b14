/**
 * node program.mjs <directory> <call>: awaits one call after another, and never anything else, over
 * the database `shop`.
 *
 * Prints `saved N` once N calls of the loop are stored, or `turned` for one that changes nothing,
 * when a signal and a timer came through; `starved` where {@link CALLS} calls came before. Goes on
 * until it is killed.
 */
import { Database } from '../../src/database.ts';
import { files } from '../../src/node/index.ts';

const CALLS = 400_000;

const [directory = '', call = ''] = process.argv.slice(2);
const db = new Database({ name: 'shop', storage: files(directory) });
const counts = new db.Collection<{ n: number }>({ name: 'counts', type: 'DOCUMENT_BASED' });
const values = new db.Collection({ name: 'values', type: 'KEY_VALUE_BASED' });
await counts.insert({ _id: 'one', n: 0 });
await values.set('n', 0);
await db.save();

const calls: Record<string, (n: number) => Promise<unknown>> = {
  insert: (n) => counts.insert({ _id: `${n}`, n }),
  patch: (n) => counts.patch('one', { n }),
  set: (n) => values.set('n', n),
  get: () => counts.get('one'),
  save: () => db.save(),
};

let acknowledged = 0;
let isSignalled = false;
const signalled = new Promise<void>((resolve) => {
  process.once('SIGUSR2', () => {
    isSignalled = true;
    resolve();
  });
});
process.kill(process.pid, 'SIGUSR2');
const timer = new Promise<void>((resolve) => setTimeout(resolve, 1));
let isPrinted = false;
const print = (line: string) => {
  if (!isPrinted) console.log(line);
  isPrinted = true;
};

if (call === 'get' || call === 'save')
  void Promise.all([timer, signalled]).then(() => print('turned'));
else {
  const atSaves: number[] = [];
  db.on('save', () => {
    // What was acknowledged at one save, the next but one has stored: one may have begun before.
    atSaves.push(acknowledged);
    const stored = atSaves.at(-3) ?? 0;
    if (stored > 1 && isSignalled) print(`saved ${stored}`);
  });
}

for (let n = 1; ; n++) {
  await calls[call]?.(n);
  acknowledged = n;
  if (n === CALLS) print('starved');
}
