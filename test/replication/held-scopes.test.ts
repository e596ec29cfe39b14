import { afterEach, expect, test, vi } from 'vitest';
import { OptionError } from '../../src/index.ts';
import { memory } from '../../src/server/index.ts';
import { closeDevices } from './device.ts';
import { deviceOf, idsOf, Office } from './scope-stories.ts';

afterEach(async () => {
  await closeDevices();
  vi.unstubAllGlobals();
});

const unexpected = (error: Error) => {
  throw error;
};

async function started() {
  const office = new Office(memory());
  for (const owner of ['ada', 'ben']) await office.write(owner, { owner });
  const { device, settled } = deviceOf(office, []);
  await settled();
  const { sync } = device;
  const hold = (owner: string) => sync.hold({ owner }, unexpected);
  const shows = (...ids: string[]) => expect.poll(() => idsOf(device)).toEqual(ids);
  return { device, sync, hold, shows };
}

test('a scope is here as long as somebody holds it', async () => {
  const { hold, shows, sync } = await started();
  const leave = [hold('ada'), hold('ada'), hold('ben')] as const;
  await shows('ada', 'ben');
  leave[0]();
  leave[0]();
  leave[2]();
  await shows('ada');
  expect(await sync.scopes.list()).toEqual([{ owner: 'ada' }]);
  leave[1]();
  await shows();
  expect(await sync.scopes.list()).toEqual([]);
  hold('ada');
  await shows('ada');
});

test('one who comes back in the same turn holds it still', async () => {
  const { device, hold, shows } = await started();
  const leave = hold('ada');
  await shows('ada');
  const gone: unknown[] = [];
  const stop = device.orders.on('change', (change) => gone.push(change));
  leave();
  hold('ada');
  hold('ben');
  await shows('ada', 'ben');
  stop();
  expect(JSON.stringify(gone)).not.toContain('delete');
});

test('what was added otherwise stays', async () => {
  const { hold, shows, sync } = await started();
  await sync.scopes.add({ owner: 'ada' });
  const leave = [hold('ada'), hold('ben')];
  await shows('ada', 'ben');
  expect(await sync.scopes.list()).toEqual([{ owner: 'ada' }, { owner: 'ben' }]);
  for (const call of leave) call();
  await shows('ada');
  const again = hold('ada');
  await sync.scopes.remove({ owner: 'ada' });
  await sync.settled();
  await shows('ada');
  again();
  await shows();
});

test('another tab that shows it keeps it', async () => {
  /** Locks of two tabs: what a shared one is held by, an exclusive one is refused. */
  const shared = new Map<string, number>();
  vi.stubGlobal('navigator', {
    locks: {
      request: async (name: string, { mode }: LockOptions, call: (lock: unknown) => unknown) => {
        if (mode !== 'shared') return call((shared.get(name) ?? 0) === 0 ? {} : null);
        shared.set(name, (shared.get(name) ?? 0) + 1);
        await call({});
        return void shared.set(name, (shared.get(name) as number) - 1);
      },
    },
  });
  const { hold, shows, sync } = await started();
  const leave = hold('ada');
  await shows('ada');
  const [name] = [...shared.keys()] as [string];
  shared.set(name, 2);
  leave();
  hold('ben');
  await shows('ada', 'ben');
  expect(await sync.scopes.list()).toEqual([{ owner: 'ada' }, { owner: 'ben' }]);
});

test('a scope whose code does not load is told, and the next one loads it', async () => {
  const { hold, shows, sync } = await started();
  const code = '../../src/replication/loop/held-scopes.ts';
  vi.doMock(code, () => {
    throw new TypeError('offline');
  });
  const told: Error[] = [];
  const leave = sync.hold({ owner: 'ada' }, (error) => told.push(error));
  await expect.poll(() => told).toMatchObject([{ code: 'load_failed' }]);
  leave();
  vi.doUnmock(code);
  hold('ada');
  await shows('ada');
});

test('what is wrong with a scope is told to each', async () => {
  const { sync } = await started();
  const told: Error[] = [];
  const failed = (error: Error) => void told.push(error);
  sync.hold({} as never, failed);
  sync.hold({} as never, failed);
  await expect.poll(() => told.length).toBe(2);
  sync.hold({} as never, failed);
  await expect.poll(() => told).toEqual([0, 0, 0].map(() => expect.any(OptionError)));
  const whole = deviceOf(new Office(memory()), undefined).device.sync;
  whole.hold({ owner: 'ada' }, failed);
  await expect.poll(() => told[3]).toMatchObject({ code: 'option_conflict', place: 'scopes' });
});

test('after the end of the replication nothing is held', async () => {
  const { device, hold, shows } = await started();
  const leave = hold('ada');
  await shows('ada');
  await device.sync.stop();
  leave();
  const failed = vi.fn();
  device.sync.hold({ owner: 'ben' }, failed)();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(failed).not.toHaveBeenCalled();
});
