import { afterEach, expect, test } from 'vitest';
import { memory } from '../../src/server/index.ts';
import { crashPage, faultyDriver, oneDatabase } from '../storage/faulty-driver.ts';
import { closeDevices } from './device.ts';
import { deviceOf, idsOf, Office } from './scope-stories.ts';

afterEach(closeDevices);

/** A backup, and what restores it. */
async function backedUp({ device, jobs }: ReturnType<typeof deviceOf>) {
  const name = await jobs.createBackup();
  const file = await new Response(await device.db.exportAll()).blob();
  return {
    loadBackup: () => jobs.loadBackup(name) as Promise<unknown>,
    importAll: () => device.db.importAll(file),
    merge: () => device.db.importAll(file, { mode: 'merge' }),
  };
}

const WAYS = ['loadBackup', 'importAll', 'merge'] as const;

test.for(WAYS)('%s deletes nothing on the server that a later scope has', async (way) => {
  const office = new Office(memory());
  await office.write('a', { owner: 'ada', state: 'open' });
  await office.write('b', { owner: 'ben', state: 'open' });
  const opened = deviceOf(office, [{ owner: 'ada' }]);
  const { device, settled } = opened;
  await settled();
  const restore = await backedUp(opened);
  await device.sync.scopes.add({ state: 'open' });
  await settled();
  await restore[way]();
  await settled();
  expect(await office.document('b')).toMatchObject({ owner: 'ben', state: 'open' });
  expect(await idsOf(device)).toEqual(['a', 'b']);
});

test.for(WAYS)('%s keeps nothing here that has left its scope', async (way) => {
  const office = new Office(memory());
  for (const id of ['a', 'c']) await office.write(id, { owner: 'ada' });
  const opened = deviceOf(office, [{ owner: 'ada' }]);
  const { device, settled } = opened;
  await settled();
  const restore = await backedUp(opened);
  await office.write('a', { owner: 'ben' });
  await settled();
  await restore[way]();
  await settled();
  expect(await idsOf(device)).toEqual(['c']);
  expect(await office.document('a')).toMatchObject({ owner: 'ben' });
});

test.for(WAYS)('%s of a time with other rights changes none', async (way) => {
  let projects = ['p', 'q'];
  const scopes = { mine: () => ({ project: { $in: projects } }) } as const;
  const office = new Office(memory(), { scopes });
  for (const [id, project] of ['p', 'q', 'r'].entries()) await office.write(`${id}`, { project });
  const opened = deviceOf(office, [{ mine: true }]);
  const { device, jobs, settled } = opened;
  await settled();
  await jobs.patch('1', { note: 'mine' });
  const restore = await backedUp(opened);
  projects = ['q', 'r'];
  await settled();
  await jobs.patch('1', { note: 'later' });
  await settled();
  await restore[way]();
  await settled();
  expect(await idsOf(device)).toEqual(['1', '2']);
  for (const [id, project] of ['p', 'q', 'r'].entries())
    expect(await office.document(`${id}`)).toMatchObject({ project });
  // What the backup has is a local change.
  expect(await office.document('1')).toMatchObject({ note: 'mine' });
});

test('a document comes again that the backup lacks, without a request for a round', async () => {
  const office = new Office(memory());
  await office.write('a', { owner: 'ada' });
  const opened = deviceOf(office, [{ owner: 'ada' }]);
  const { device, settled } = opened;
  await settled();
  const restore = await backedUp(opened);
  await office.write('b', { owner: 'ada' });
  await settled();
  await restore.loadBackup();
  await expect.poll(() => idsOf(device)).toEqual(['a', 'b']);
});

test('a crash of loadBackup() leaves no document out of its scope', async () => {
  let crashes = 0;
  for (let step = 0; ; step++) {
    const office = new Office(memory());
    for (const id of ['a', 'b']) await office.write(id, { owner: 'ada' });
    const driver = faultyDriver();
    const open = () =>
      deviceOf(office, [{ owner: 'ada' }], {
        name: crypto.randomUUID(),
        storage: oneDatabase(driver),
      });
    const { device, jobs, settled } = open();
    await settled();
    const backup = await jobs.createBackup();
    await office.write('c', { owner: 'ada' });
    await settled();
    device.sync.pause();
    driver.cut({ after: step >> 1, when: step % 2 ? 'after' : 'before', dies: true });
    await jobs.loadBackup(backup).catch(() => undefined);
    const wasCut = await crashPage(driver, () => device.close());
    if (wasCut) crashes++;
    const again = open();
    await again.settled();
    expect([step, await idsOf(again.device)]).toEqual([step, ['a', 'b', 'c']]);
    await again.device.close();
    if (!wasCut) break;
  }
  expect(crashes).toBeGreaterThan(5);
});
