import type { Remote } from '../protocol/remote.ts';
import { flakyRemote } from './flaky-remote.ts';
import {
  accept,
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
