import { openPeople, openWarm, remove } from '../../limits/page/cairn.mjs';
import { timeAndWatch } from '../../page/measure.mjs';
import { makeIdentified, replicateWith } from './replicated.mjs';

/**
 * Changes every document while the replication is paused, and pushes them. @param {{ database:
 * string, size: number, remote: string }} input
 */
export async function push({ database: name, size, remote }) {
  const database = await openWarm('worker', name);
  const people = openPeople(database);
  const sync = await replicateWith(people, remote);
  await sync.settled();
  sync.pause();
  const changed = makeIdentified(size).map((person) => ({ ...person, age: person.age + 100 }));
  await people.upsertMany(changed);
  await people.save();
  const { ms, longest, longTask } = await timeAndWatch(async () => {
    sync.resume();
    await sync.settled();
  });
  if (sync.status.pending !== 0) throw new Error(`${sync.status.pending} changes are not pushed.`);
  await sync.stop();
  await remove(database);
  const each = (ms * 1000) / size;
  return { ms, 'µs each': each, 'blocked ms': longest, 'long task ms': longTask };
}
