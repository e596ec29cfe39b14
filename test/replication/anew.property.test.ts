import { afterEach, expect, inject, test } from 'vitest';
import { couchdb } from '../../src/replication/index.ts';
import type { Remote } from '../../src/replication/protocol/remote.ts';
import { Random } from '../setup/random.ts';
import { CouchTestDatabase, useCouchServer } from './couchdb/couch-server.ts';
import { closeDevices } from './device.ts';
import { documentedRemote } from './documented-remote.ts';
import { MemoryRemote } from './memory-remote.ts';
import { type Phone, phones, settled } from './phone.ts';

afterEach(closeDevices);
const couch = useCouchServer();

function memoryRemote(keys: MemoryRemote['keys']): Remote<any> {
  const remote = new MemoryRemote();
  remote.keys = keys;
  return remote;
}

const SERVERS: Record<string, () => Promise<Remote<any>> | Remote<any>> = {
  'sends keys': () => memoryRemote('sent'),
  'keeps keys to itself': () => memoryRemote('kept'),
  'knows no keys': () => memoryRemote('none'),
  'is that of the documentation': documentedRemote,
  'is CouchDB': async () => {
    const { headers } = couch();
    return couchdb({ url: (await CouchTestDatabase.create(couch())).url, headers });
  },
};

/** Changes of a document that may be gone, made anew, or neither. */
const CHANGES: readonly ((phone: Phone, n: number) => Promise<unknown>)[] = [
  ({ orders }, n) => orders.insert({ _id: 'o', n, [`f${n}`]: n }).catch(() => undefined),
  ({ orders }, n) => orders.patch('o', { n }),
  ({ orders }, n) => orders.patch('o', { $push: { list: n } }),
  ({ orders }, n) => orders.update('o', { n }),
  ({ orders }, n) => orders.upsert({ _id: 'o', n, [`g${n}`]: n }),
  ({ orders }) => orders.archive('o'),
  ({ orders }) => orders.unarchive('o'),
  ({ orders }) => orders.delete('o'),
  ({ orders }) => orders.delete('o'),
  ({ orders }, n) =>
    Promise.all([orders.delete('o'), orders.insert({ _id: 'o', n })]).catch(() => undefined),
];

test.each(Object.keys(SERVERS))(
  'what one device alone changes is as it has left it, whatever is lost, on a server that %s',
  async (kind) => {
    for (let seed = 1; seed <= 40 * inject('effort'); seed++) {
      const random = new Random(seed);
      const [a, b] = await phones(await (SERVERS[kind] as () => Remote<any>)());
      for (let step = 1; step < 14; step++) {
        const kind = random.below(10);
        if (kind < 6) await random.pick(CHANGES)(a, step);
        else if (kind === 6) await a.reload();
        else if (kind === 7) await b.settled();
        else await a.attempt(random.pick([undefined, 'answer', 'answer', 'request'] as const));
      }
      const left = await a.device.all();
      expect([seed, await settled(a, b)]).toEqual([seed, left]);
      await closeDevices();
    }
  },
);
