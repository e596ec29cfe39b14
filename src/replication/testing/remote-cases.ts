import type { Remote } from '../protocol/remote.ts';
import { flakyRemote } from './flaky-remote.ts';
import {
  accept,
  acceptedVersion,
  conflictOf,
  expectSame,
  newKey,
  type OpenedCase,
  PullingClient,
  pushAll,
  rowOf,
} from './remote-bench.ts';

/** What several clients see. */
export const clientCases: readonly OpenedCase[] = [
  {
    name: 'pages: each document has its newest state, and none is skipped',
    async run({ remote }) {
      const ids = Array.from({ length: 25 }, (_, n) => `d${n}`);
      const made = await pushAll(remote, ...ids.map((id) => rowOf(id, { n: 1 })));
      const client = new PullingClient(remote);
      const first = await client.page(10);
      expectSame('more of the first page', first.more, true);
      const [{ version }] = made as [{ version: string }];
      await accept(remote, rowOf('d0', { n: 2 }, version));
      await client.pull(10);
      expectSame('documents', Object.keys(client.documents()), [...ids].sort());
      expectSame('the changed one', client.held.get('d0')?.document, { _id: 'd0', n: 2 });
    },
  },
  {
    name: 'of ten clients that push on one version, one is accepted',
    async run({ remote }) {
      const base = await accept(remote, rowOf('a', { n: 0 }));
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, n) => pushAll(remote, rowOf('a', { n: n + 1 }, base))),
      );
      const accepted = all.filter(([result]) => result && 'version' in result);
      expectSame('accepted', accepted.length, 1);
    },
  },
  {
    name: 'a reader beside ten writers skips nothing, whatever the order of their commits',
    async run({ remote }) {
      const client = new PullingClient(remote);
      let writing = 10;
      const write = async (writer: number) => {
        for (let n = 0; n < 6; n++)
          await pushAll(remote, rowOf(`${writer} ${n}`, { n }), rowOf(`${writer} ${n} b`, { n }));
        writing -= 1;
      };
      const read = async () => {
        // As of the call: what is written until the answer comes may not be in it.
        for (let isLast = false; !isLast; ) {
          isLast = writing === 0;
          await client.pull(7);
          // A remote in memory would leave the writers no turn.
          await new Promise<void>((resolve) => void setTimeout(resolve));
        }
      };
      await Promise.all([read(), ...Array.from({ length: 10 }, (_, writer) => write(writer))]);
      expectSame('documents', Object.keys(client.documents()).length, 120);
      const anew = await new PullingClient(remote).pull();
      expectSame('as of a new client', client.documents(), anew.documents());
    },
  },
  {
    name: 'watch() yields for what is there already and for what comes, and ends with its signal',
    needs: 'watch',
    async run({ remote }) {
      if (!remote.watch) throw new Error("The remote has no watch(): lacks: ['watch'].");
      const client = await new PullingClient(remote).pull();
      await accept(remote, rowOf('a', { n: 1 }));
      await rung(remote, client.checkpoint);
      await client.pull();
      const ringing = rung(remote, client.checkpoint);
      await accept(remote, rowOf('b', { n: 1 }));
      await ringing;
      await client.pull();
      const leaving = new AbortController();
      const waiting = rung(remote, client.checkpoint, leaving).catch(() => undefined);
      leaving.abort(new Error('the client leaves'));
      await waiting;
    },
  },
  {
    name: 'calls with a signal that has aborted end',
    async run({ remote }) {
      const signal = AbortSignal.abort(new Error('the client leaves'));
      await Promise.allSettled([
        remote.pull(undefined, { limit: 10, signal }),
        remote.push([rowOf('a', {})], { signal }),
      ]);
    },
  },
  {
    name: 'a scope has its own documents, and says which have left it',
    needs: 'scopes',
    async run({ remote, scope }) {
      if (!remote.scopes || !scope)
        throw new Error("The remote needs scopes: true, and open() scope; or lacks: ['scopes'].");
      const { ask, inside, outside } = scope;
      const client = new PullingClient(remote, ask);
      const first = await accept(remote, rowOf('a', inside));
      const other = await accept(remote, rowOf('b', outside));
      await client.pull();
      expectSame('documents', client.documents(), { a: { _id: 'a', ...inside } });
      const second = await accept(remote, rowOf('a', outside, first));
      await accept(remote, rowOf('b', inside, other));
      await client.pull();
      const left = client.held.get('a');
      expectSame('the one that left', [left?.document ?? null, left?.left], [null, true]);
      expectSame('documents', client.documents(), { b: { _id: 'b', ...inside } });
      await accept(remote, rowOf('a', inside, second));
      await client.pull();
      expectSame('back again', Object.keys(client.documents()), ['a', 'b']);
    },
  },
  {
    name: 'three clients behind a network that loses, doubles, delays and reorders end equal',
    async run({ remote }, { lacks = [] }) {
      const isExact = !lacks.includes('keys');
      const counted = { n: 0 };
      const clients = [1, 2, 3].map((seed) => new CountingClient(remote, seed, counted));
      await Promise.all(clients.map((client) => client.run()));
      for (const client of clients) await client.heal();
      const truth = (await new PullingClient(remote).pull()).documents();
      for (const { pulling } of clients) {
        await pulling.pull();
        expectSame('what a client has', pulling.documents(), truth);
      }
      const sum = Object.values(truth).reduce(
        (total, { n }: { n?: number }) => total + (n ?? 0),
        0,
      );
      // Without keys, a lost answer may count twice.
      if (isExact) expectSame('the sum of what was counted', sum, counted.n);
      else if (sum < counted.n) throw new Error(`Lost: ${sum} of ${counted.n} were counted.`);
    },
  },
];

/** Counts in shared documents, each time once: a push without an answer is repeated as it was. */
class CountingClient {
  readonly pulling: PullingClient;
  readonly #remote: ReturnType<typeof flakyRemote<unknown>>;
  readonly #name: string;
  readonly #counted: { n: number };

  constructor(remote: Remote, seed: number, counted: { n: number }) {
    this.#remote = flakyRemote(remote, { seed });
    this.pulling = new PullingClient(this.#remote);
    this.#name = `client${seed}`;
    this.#counted = counted;
  }

  async run(): Promise<void> {
    for (let count = 0; count < 8; count++) await this.#count(`shared ${count % 3}`);
  }

  heal(): Promise<void> {
    return this.#remote.heal();
  }

  async #count(id: string): Promise<void> {
    for (;;) {
      await untilAnswered(() => this.pulling.pull(4));
      const present = this.pulling.held.get(id);
      const { n = 0 } = (present?.document ?? {}) as { n?: number };
      const row = rowOf(id, { n: n + 1 }, present?.version, newKey(this.#name));
      const [result] = await untilAnswered(() => pushAll(this.#remote, row));
      if (!result || !('version' in result)) continue;
      this.#counted.n += 1;
      return;
    }
  }
}

/** Repeats a call that the network has failed. */
async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
}

/** Resolves when `watch` yields; or ends, where the signal has aborted. */
async function rung(remote: Remote, after: unknown, ended = new AbortController()): Promise<void> {
  for await (const _ of remote.watch?.(after, { signal: ended.signal }) ?? []) return;
  if (!ended.signal.aborted) throw new Error('watch() ended, and has not yielded.');
}

/** Values that documents have, and JSON has not. */
const VALUES = {
  date: new Date(86_400_000),
  map: new Map([['a', new Date(0)]]),
  bytes: new Uint8Array([0, 127, 255]),
  big: 2n ** 70n,
  numbers: [0, -1.5, 1e300, 5e-324, Number.MAX_SAFE_INTEGER],
  texts: ['', '\u2028"\\', 'é\u{1F600}', '$date'],
  nested: { a: [{ b: [] }, null], $date: 'a field' },
};

/** What a server does with rows. */
export const serverCases: readonly OpenedCase[] = [
  {
    name: 'a server without documents has nothing to pull',
    async run({ remote }) {
      const client = new PullingClient(remote);
      const { changes, more, reset } = await client.page();
      expectSame('changes', changes, []);
      expectSame('more', more, false);
      expectSame('reset', reset, undefined);
      // Also from there.
      await client.pull();
      expectSame('documents', client.documents(), {});
      expectSame('reset of the second pull', client.wasReset, false);
    },
  },
  {
    name: 'a document comes back with all its values, and the version of its push',
    async run({ remote }) {
      const version = await accept(remote, rowOf('a', VALUES));
      const client = await new PullingClient(remote).pull();
      expectSame('the document', client.documents(), { a: { _id: 'a', ...VALUES } });
      expectSame('the version', client.held.get('a')?.version, version);
    },
  },
  {
    name: 'ids are any text',
    async run({ remote }) {
      const ids = ['a/b?c=d&e#f', "it's; --", ' x ', 'é\u{1F600}', '%2F', '..', 'x'.repeat(200)];
      await pushAll(remote, ...ids.map((id) => rowOf(id, { id })));
      const { held } = await new PullingClient(remote).pull();
      for (const id of ids)
        expectSame(`the document "${id}"`, held.get(id)?.document, { _id: id, id });
    },
  },
  {
    name: 'compare and set: what does not derive from the newest version is a conflict with it',
    async run({ remote }) {
      const first = await accept(remote, rowOf('a', { n: 1 }));
      const second = await accept(remote, rowOf('a', { n: 2 }, first));
      const results = await pushAll(
        remote,
        rowOf('a', { n: 3 }, first),
        rowOf('a', undefined, first),
      );
      const [blind] = await pushAll(remote, rowOf('a', { n: 5 }));
      for (const result of [...results, blind]) {
        const { id, version, document } = conflictOf('a stale push', result);
        expectSame(
          'the conflict',
          { id, version, document },
          {
            ...{ id: 'a', version: second, document: { _id: 'a', n: 2 } },
          },
        );
      }
      await accept(remote, rowOf('a', { n: 6 }, second));
    },
  },
  {
    name: 'a version that the server has never had is a conflict, whose version can be the base',
    async run({ remote }) {
      const lost = await accept(remote, rowOf('other', {}));
      const [result] = await pushAll(remote, rowOf('a', { n: 1 }, lost));
      const { version, document } = conflictOf('a push on an unknown base', result);
      expectSame('the document of the conflict', document ?? undefined, undefined);
      await accept(remote, rowOf('a', { n: 1 }, version));
    },
  },
  {
    name: 'a deletion is pulled, and its document can be made anew',
    async run({ remote }) {
      const client = new PullingClient(remote);
      const first = await accept(remote, rowOf('a', { n: 1 }));
      await client.pull();
      const second = await accept(remote, rowOf('a', undefined, first));
      await client.pull();
      const gone = client.held.get('a');
      expectSame('the deletion', [gone?.version, gone?.document ?? null], [second, null]);
      await accept(remote, rowOf('a', { n: 2 }));
      expectSame('anew', (await client.pull()).documents(), { a: { _id: 'a', n: 2 } });
    },
  },
  {
    name: 'deleting what is deleted or was never there is accepted',
    async run({ remote }) {
      const first = await accept(remote, rowOf('a', { n: 1 }));
      await accept(remote, rowOf('a', undefined, first));
      await accept(remote, rowOf('a', undefined, first));
      await accept(remote, rowOf('never', undefined));
      expectSame('documents', (await new PullingClient(remote).pull()).documents(), {});
    },
  },
  {
    name: 'each row has its own result, in the order of the rows',
    async run({ remote }) {
      await accept(remote, rowOf('b', { n: 1 }));
      const results = await pushAll(
        remote,
        ...[rowOf('c', { n: 2 }), rowOf('b', { n: 2 }), rowOf('a', { n: 2 })],
      );
      const kinds = results.map((result) => Object.keys(result)[0]);
      expectSame('the results', kinds, ['version', 'conflict', 'version']);
      const { held } = await new PullingClient(remote).pull();
      expectSame('a', held.get('a')?.version, acceptedVersion('a', results[2]));
      expectSame('c', held.get('c')?.version, acceptedVersion('c', results[0]));
    },
  },
  {
    name: 'a push that comes again at once is accepted, and changes nothing',
    async run({ remote }) {
      const first = await accept(remote, rowOf('a', { n: 1 }));
      const row = rowOf('a', { n: 2 }, first);
      const second = await accept(remote, row);
      const [again] = await pushAll(remote, row);
      // A server without keys may answer with the conflict, in which the device knows its state.
      const version = again && 'conflict' in again ? again.conflict.version : undefined;
      expectSame('the version', version ?? acceptedVersion('the second time', again), second);
      const { held } = await new PullingClient(remote).pull();
      expectSame('the version that is pulled', held.get('a')?.version, second);
    },
  },
  {
    name: 'a push that comes again after others is accepted, and answered with the newest state',
    needs: 'keys',
    async run({ remote }) {
      const row = rowOf('a', { n: 1 });
      const first = await accept(remote, row);
      const second = await accept(remote, rowOf('a', { n: 2 }, first));
      const [again] = await pushAll(remote, row);
      expectSame('the answer', again, { version: second, document: { _id: 'a', n: 2 } });
      await accept(remote, rowOf('a', undefined, second));
      acceptedVersion('the push of what is deleted since', (await pushAll(remote, row))[0]);
      expectSame('documents', (await new PullingClient(remote).pull()).documents(), {});
    },
  },
  {
    name: 'the last eight keys of a document are remembered',
    needs: 'keys',
    async run({ remote }) {
      const rows = Array.from({ length: 8 }, (_, n) => rowOf('a', { n }));
      let base: string | undefined;
      for (const row of rows) base = await accept(remote, { ...row, base });
      const [again] = await pushAll(remote, rows[0] as (typeof rows)[0]);
      expectSame('the version', acceptedVersion('the oldest', again), base);
    },
  },
  {
    name: 'operations are applied to the newest state, or are a conflict with it',
    async run({ remote }) {
      const base = await accept(remote, rowOf('a', { n: 1 }));
      const newest = await accept(remote, rowOf('a', { n: 5 }, base));
      const row = rowOf('a', { n: 2 }, base, newKey('counter'));
      const [result] = await pushAll(remote, { ...row, operations: [['$inc', 'n', 1]] });
      const { held } = await new PullingClient(remote).pull();
      const stored = held.get('a');
      if (result && 'conflict' in result) {
        expectSame('the conflict', result.conflict.version, newest);
        expectSame('the document', stored?.document, { _id: 'a', n: 5 });
        return;
      }
      const version = acceptedVersion('the push', result);
      expectSame('the answer', (result as { document?: object }).document, { _id: 'a', n: 6 });
      expectSame('what is stored', stored, { ...stored, version, document: { _id: 'a', n: 6 } });
    },
  },
  {
    name: 'data that were created anew are noticed: the page has reset, and begins from the start',
    needs: 'reset',
    async run({ remote, recreate }) {
      if (!recreate) throw new Error("open() must return recreate(), or lacks: ['reset'].");
      for (const id of ['a', 'b', 'c']) await accept(remote, rowOf(id, {}));
      const client = await new PullingClient(remote).pull();
      await recreate();
      await accept(remote, rowOf('d', { n: 1 }));
      await client.pull();
      expectSame('reset', client.wasReset, true);
      expectSame('documents', client.documents(), { d: { _id: 'd', n: 1 } });
    },
  },
];
