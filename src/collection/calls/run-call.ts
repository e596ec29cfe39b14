import { isCoroutine, type Result, run } from '../../engine/scheduling/coroutine.ts';
import { nextTurn } from '../../engine/scheduling/next-turn.ts';
import type { HandleChannel } from './handle-channel.ts';
import type { HandleRequest, Sender } from './sender.ts';

/** Starts a call over a sender. */
export type StartCall<T> = (sender: Sender) => Result<T>;

/** How a call runs. */
export interface CallMode {
  /** When aborted, the call rejects with the signal's reason and the engine stops. */
  readonly signal?: AbortSignal | undefined;
  /** Whether other calls of the collection wait until this one has ended. */
  readonly exclusive?: boolean | undefined;
}

type Send = (request: HandleRequest) => Promise<unknown>;

/** Runs a call with promises. Sends its first request synchronously, so that calls keep their order. */
export function runCall<T>(
  channel: HandleChannel,
  start: StartCall<T>,
  { signal, exclusive = false }: CallMode = {},
): Promise<T> {
  const begin = (send: Send): Promise<T> =>
    exclusive
      ? channel.order.enterExclusively(() => drive(channel, start, send))
      : drive(channel, start, (request) => channel.order.enter(() => send(request)));
  const send: Send = (request) => channel.send(request);
  return signal ? runUntil(signal, channel, begin) : begin(send);
}

// Async, so that a synchronous exception rejects too.
async function drive<T>(channel: HandleChannel, start: StartCall<T>, send: Send): Promise<T> {
  const call = start({
    get started() {
      return channel.started;
    },
    send: send as Sender['send'],
    pause: nextTurn,
  });
  return isCoroutine(call) ? run(call) : call;
}

function runUntil<T>(
  signal: AbortSignal,
  channel: HandleChannel,
  begin: (send: Send) => Promise<T>,
): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const call = Math.random();
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason);
      channel.withdraw(call, signal.reason);
      // The call may have ended; if the engine is lost, the call itself rejects.
      channel.send({ op: 'abort', call, urgent: true }).catch(() => undefined);
    };
    signal.addEventListener('abort', abort, { once: true });
    begin((request) => {
      // An aborted call still closes its scan.
      if (request.op === 'scanEnd') return channel.send(request);
      if (signal.aborted) return Promise.reject(signal.reason);
      return channel.send({ ...request, call } as HandleRequest);
    })
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}
