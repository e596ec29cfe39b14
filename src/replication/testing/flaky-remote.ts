import type { LocalChange, PushResult, Remote } from '../protocol/remote.ts';

/** Options of {@link flakyRemote}. */
export interface FlakyOptions {
  /** The same faults each time. Default 1. */
  readonly seed?: number;
  /** How likely a call meets a fault, 0 to 1. Default 0.3. */
  readonly faults?: number;
}

/** A remote behind a network that fails, see {@link flakyRemote}. */
export interface FlakyRemote<Checkpoint> extends Remote<Checkpoint> {
  /** From now on nothing fails; resolves when all that was under way has arrived. */
  heal(): Promise<void>;
}

/** Most turns that a call is late. */
const LATE_TURNS = 6;

/**
 * A remote behind a network that loses requests, loses answers, sends pushes twice, and delays
 * them, so that they arrive in another order. Use it with `replicate()` to see what your app does.
 *
 * @example
 * ```ts
 * const remote = flakyRemote(http({ url: 'https://example.com/sync/orders' }), { seed: 7 });
 * ```
 */
export function flakyRemote<Checkpoint>(
  remote: Remote<Checkpoint>,
  { seed = 1, faults = 0.3 }: FlakyOptions = {},
): FlakyRemote<Checkpoint> {
  let state = (seed % 2_147_483_646) + 1;
  let isHealed = false;
  const late = new Set<Promise<unknown>>();
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const fails = () => !isHealed && random() < faults;
  const delay = async () => {
    for (let turns = isHealed ? 0 : Math.floor(random() * LATE_TURNS); turns > 0; turns--)
      await new Promise<void>((resolve) => void setTimeout(resolve));
  };

  async function call<T>(request: () => Promise<T>): Promise<T> {
    if (fails()) throw lost('request');
    await delay();
    const answer = await request();
    if (fails()) throw lost('answer');
    await delay();
    return answer;
  }

  async function push(rows: readonly LocalChange[], ask: { readonly signal: AbortSignal }) {
    // The sender may have left when it arrives again.
    const again = async () => {
      await delay();
      await delay();
      await remote.push(rows, { signal: new AbortController().signal });
    };
    if (fails()) {
      const arriving: Promise<unknown> = again()
        .catch(() => undefined)
        .finally(() => late.delete(arriving));
      late.add(arriving);
    }
    return call<readonly PushResult[]>(() => remote.push(rows, ask));
  }

  return {
    ...{ id: remote.id, push },
    pull: (after, ask) => call(() => remote.pull(after, ask)),
    ...(remote.scopes !== undefined && { scopes: remote.scopes }),
    ...(remote.defaultScope && { defaultScope: remote.defaultScope }),
    ...(remote.files && { files: remote.files }),
    ...(remote.watch && { watch: remote.watch.bind(remote) }),
    async heal() {
      isHealed = true;
      while (late.size > 0) await Promise.all(late);
    },
  };
}

/** As `fetch` fails where the network does. */
function lost(what: string): TypeError {
  return new TypeError(`The network has lost the ${what}.`);
}
