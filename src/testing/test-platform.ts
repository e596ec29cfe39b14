import { systemClock } from '../async/clock.ts';
import { inMicrotask } from '../async/next-turn.ts';
import { ThreadLocks } from '../platform/page-locks.ts';
import type { Broadcast, Platform } from '../platform/platform.ts';
import type { FakeClock } from './fake-clock.ts';
import type { TestStorage } from './test-storage.ts';

type Listener = (event: { readonly data: unknown }) => void;

/** Everything that the tabs of a browser share. */
export interface TestDevice {
  readonly disk: TestStorage;
  readonly clock: FakeClock | undefined;
  readonly locks: ThreadLocks;
  /** Open channels, by their name: the listeners of each. */
  readonly channels: Map<string, Set<Set<Listener>>>;
}

let clients = 0;

export function newDevice(disk: TestStorage, clock: FakeClock | undefined): TestDevice {
  return { disk, clock, locks: new ThreadLocks(), channels: new Map() };
}

/**
 * The platform of a tab. A lone one has no other tabs to talk to. docs/decisions/027-testing-kit.md
 * has the reasons.
 */
export function tabPlatform(device: TestDevice, isTab: boolean): Platform {
  const { disk, clock = systemClock, locks } = device;
  return {
    clock,
    locks,
    locked: true,
    broadcast: isTab ? (name) => openChannel(device, name) : undefined,
    newPorts: () => new MessageChannel(),
    storage: isTab ? disk : undefined,
    page: undefined,
    pageWriting: () => NO_UNLOADS,
    journals: NO_JOURNALS,
    switchboard: undefined,
    newClient: () => `test.${++clients}`,
  };
}

const ignore = () => undefined;
const refuse = () => false;

/** A test tab never ends without a close. */
const NO_UNLOADS: ReturnType<Platform['pageWriting']> = {
  prepare: ignore,
  write: refuse,
  store: refuse,
  journal: ignore,
  forget: ignore,
  close: ignore,
};

const NO_JOURNALS: Platform['journals'] = {
  write: () => 0,
  read: () => [],
  forget: ignore,
  clear: ignore,
  onWritten: () => ignore,
};

/** A BroadcastChannel among the tabs of a device: Node's keep the process from ending. */
function openChannel({ channels }: TestDevice, name: string): Broadcast {
  const all = channels.get(name) ?? new Set();
  channels.set(name, all);
  const own = new Set<Listener>();
  all.add(own);
  const channel = {
    postMessage(message: unknown) {
      // jsdom has no structuredClone. Nobody changes a message; a copy shows what cannot be sent.
      const data = globalThis.structuredClone?.(message) ?? message;
      for (const other of all) if (other !== own) inMicrotask(() => deliver(other, data));
    },
    addEventListener: (_type: string, listener: unknown) => void own.add(listener as Listener),
    removeEventListener: (_type: string, listener: unknown) =>
      void own.delete(listener as Listener),
    close() {
      all.delete(own);
      own.clear();
      if (all.size === 0) channels.delete(name);
    },
  };
  return channel as unknown as Broadcast;
}

function deliver(listeners: ReadonlySet<Listener>, data: unknown): void {
  for (const listener of [...listeners]) listener({ data });
}
