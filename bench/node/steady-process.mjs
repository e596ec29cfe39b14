/**
 * node steady-process.mjs <call> <save_timeout> <directory> <dist> <seconds>: awaits one call after
 * another, and nothing else. Prints how late the latest timer and signal ran, and how old the
 * oldest unsaved write became, in milliseconds, as JSON.
 */
import { pathToFileURL } from 'node:url';

const [call = '', saveTimeout = '', directory = '', dist = '', seconds = ''] =
  process.argv.slice(2);
const load = (/** @type {string} */ file) => import(pathToFileURL(`${dist}/${file}`).href);
const [{ Database }, { files }] = await Promise.all([load('index.js'), load('node.js')]);

const TICK_MS = 1;

const db = new Database({ name: 'steady', storage: files(directory) });
const options = saveTimeout ? { save_timeout: Number(saveTimeout) } : {};
const counts = new db.Collection({ name: 'counts', type: 'DOCUMENT_BASED', ...options });
const values = new db.Collection({ name: 'values', type: 'KEY_VALUE_BASED', ...options });
await counts.insert({ _id: 'one', n: 0 });
await values.set('n', 0);
await db.save();

/** @type {Record<string, (n: number) => Promise<unknown>>} */
const calls = {
  insert: (n) => counts.insert({ _id: `${n}`, n }),
  patch: (n) => counts.patch('one', { n }),
  set: (n) => values.set('n', n),
};

const figures = { calls: 0, timer: 0, signal: 0, unsaved: 0 };
const start = performance.now();
let due = start + TICK_MS;
let sent = start;
process.on('SIGUSR2', () => {
  figures.signal = Math.max(figures.signal, performance.now() - sent);
  sent = Number.POSITIVE_INFINITY;
});
process.kill(process.pid, 'SIGUSR2');
const tick = () => {
  const now = performance.now();
  figures.timer = Math.max(figures.timer, now - due);
  due = now + TICK_MS;
  if (sent > now) {
    sent = now;
    process.kill(process.pid, 'SIGUSR2');
  }
  setTimeout(tick, TICK_MS);
};
setTimeout(tick, TICK_MS);

let made = 0;
while (performance.now() - start < Number(seconds) * 1000) {
  await calls[call]?.(++made);
  const { unsaved_since } = db.status;
  if (unsaved_since) figures.unsaved = Math.max(figures.unsaved, Date.now() - unsaved_since);
}
const end = performance.now();
// What never ran is as late as the loop is long.
figures.timer = Math.max(figures.timer, end - due);
if (Number.isFinite(sent)) figures.signal = Math.max(figures.signal, end - sent);
figures.calls = made / Number(seconds);
console.log(JSON.stringify(figures));
process.exit(0);
