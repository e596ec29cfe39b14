import { expect } from 'vitest';
import type { Remote } from '../../src/replication/protocol/remote.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { Device } from './device.ts';

let names = 0;

/** A device behind a network that loses what it is told to. */
export class Phone {
  device: Device;
  loses: 'request' | 'answer' | undefined;
  /** Whether pulls bring nothing new yet. */
  lags = false;
  readonly #database = { name: `phone ${++names}`, storage: faultyDriver() };
  readonly #remote: Remote<any>;

  constructor(server: Remote<any>) {
    this.#remote = {
      id: 'the server',
      pull: async (after, ask) =>
        this.lags
          ? { changes: [], checkpoint: after, more: false }
          : structuredClone(await server.pull(after, ask)),
      push: async (rows, ask) => {
        if (this.loses === 'request') throw new TypeError('no connection');
        const results = structuredClone(await server.push(structuredClone(rows), ask));
        if (this.loses === 'answer') throw new TypeError('the connection is gone');
        return results;
      },
    };
    this.device = this.#open();
  }

  #open(): Device {
    return new Device(this.#remote, {}, this.#database);
  }

  get orders() {
    return this.device.orders as any;
  }

  async reload(): Promise<void> {
    await this.device.close();
    this.device = this.#open();
  }

  /** Tries to push what there is. */
  async attempt(loses?: 'request' | 'answer'): Promise<void> {
    this.loses = loses;
    const { sync } = this.device;
    let isTried = false;
    const ended = new Promise<void>((resolve) => {
      const stop = sync.on('status', ({ state, pending }) => {
        isTried ||= state === 'pulling';
        if (!isTried) return;
        if (state !== 'offline' && (state !== 'idle' || pending > 0)) return;
        stop();
        resolve();
      });
    });
    sync.resume();
    await ended;
    sync.pause();
    this.loses = undefined;
  }

  async settled(): Promise<void> {
    this.device.sync.resume();
    await this.device.settled();
    this.device.sync.pause();
  }
}

export async function phones(server: Remote<any>): Promise<[Phone, Phone]> {
  const both: [Phone, Phone] = [new Phone(server), new Phone(server)];
  for (const { device } of both) {
    await device.settled();
    device.sync.pause();
  }
  return both;
}

/** @returns all documents, which both have. */
export async function settled(a: Phone, b: Phone): Promise<object> {
  for (const one of [a, b, a, b]) await one.settled();
  const [here, there] = [await a.device.all(), await b.device.all()];
  expect(here).toEqual(there);
  const conflicts = [...a.device.sync.conflicts(), ...b.device.sync.conflicts()];
  expect(conflicts).toEqual([]);
  return here;
}
