import { type Signal, signal } from '@preact/signals';
import type { WireChange } from 'cairndb/server';
import { formatCount } from '../../parts/format.ts';
import { messageOf } from '../../parts/message-of.ts';
import type { Device, LogEntry } from './device.ts';
import { merges, noteConflict } from './merges.ts';
import { lookAtBakery } from './recipes/count-look-and-show.ts';
import { type Item, openDevice } from './recipes/open-device.ts';
import { openLine } from './recipes/open-line.ts';
import { startServer } from './recipes/start-server.ts';
import { watchServer } from './recipes/watch-server.ts';

/** A server and its devices, until they are replaced by new ones. */
export interface World {
  readonly devices: readonly [Device, Device];
  /** What the server stores, in the order of the changes. */
  readonly rows: Signal<readonly WireChange[]>;
  end(): Promise<void>;
}

const FIRST_ITEMS: readonly Item[] = [
  { title: 'Bread', amount: 1, note: 'sourdough', shop: 'Bakery' },
  { title: 'Milk', amount: 2, note: 'oat', shop: 'Market' },
  { title: 'Apples', amount: 6, note: '', shop: 'Market' },
];

const LOG_LENGTH = 3;

export const syncProblem = signal('');

/** Does something, and shows why if it fails. */
export async function attempt(action: () => Promise<unknown>): Promise<void> {
  syncProblem.value = '';
  try {
    await action();
  } catch (error) {
    syncProblem.value = messageOf(error);
  }
}

export const world = signal(openWorld());

/** Replaces server and devices by new ones. */
export async function startOver(): Promise<void> {
  const old = world.peek();
  world.value = openWorld();
  merges.value = [];
  await attempt(() => old.end());
}

function openWorld(): World {
  const { store, handler } = startServer();
  const rows = signal<readonly WireChange[]>([]);
  const ended = new AbortController();
  attempt(() =>
    watchServer(store, ended.signal, (now) => {
      rows.value = now;
    }),
  );
  const [phone, laptop] = [joinDevice('Phone', handler), joinDevice('Laptop', handler)];
  attempt(async () => {
    for (const device of [phone, laptop]) await device.setBakery(true);
    await phone.client.items.insertMany(FIRST_ITEMS);
  });
  return {
    devices: [phone, laptop],
    rows,
    async end() {
      ended.abort();
      await Promise.all([phone.end(), laptop.end()]);
    },
  };
}

function joinDevice(title: string, handler: ReturnType<typeof startServer>['handler']): Device {
  const line = openLine(handler);
  // In memory, and of this page alone: another tab has a server of its own.
  const client = openDevice(`${title} ${crypto.randomUUID()}`, line.fetch);
  const { db, items, sync } = client;
  const log = signal<readonly LogEntry[]>([]);
  const note = (text: string) => {
    log.value = [{ at: new Date(), text }, ...log.peek()].slice(0, LOG_LENGTH);
  };
  const device: Device = {
    title,
    client,
    isOnline: signal(true),
    hasBakery: signal(true),
    status: signal(sync.status),
    items: signal([]),
    log,
    setOnline(isOnline) {
      device.isOnline.value = isOnline;
      note(isOnline ? 'Online' : 'Offline');
      if (isOnline) line.mend();
      else line.cut();
      sync.resume(); // it tries at once, as after the event of a browser
    },
    async setBakery(isWanted) {
      device.hasBakery.value = isWanted;
      await lookAtBakery(client, isWanted);
    },
    async end() {
      stop();
      await sync.stop();
      await db.close();
    },
  };
  sync.on('status', (status) => {
    device.status.value = status;
  });
  sync.on('pushed', ({ documents }) => note(`Pushed ${formatCount(documents, 'item')}`));
  sync.on('pulled', ({ documents }) => note(`Pulled ${formatCount(documents, 'item')}`));
  sync.on('conflict', (conflict) => note(noteConflict(device, conflict)));
  const stop = items.live({}, { sort: { title: 1 } }).subscribe(({ status, data, error }) => {
    if (status === 'ready') device.items.value = data;
    else if (status === 'error') syncProblem.value = messageOf(error);
  });
  return device;
}
