import { type Remote, releaseProxy, transfer, wrap } from 'comlink';
import { WorkerError } from '../errors/worker-error.ts';
import type { Channel, ChannelEvents, DatabaseSettings } from './channel.ts';
import { Watchdog } from './watchdog.ts';
import { fromWire, type WireError } from './wire-error.ts';
import {
  eventFromWire,
  statusFromWire,
  type WireEvent,
  type WorkerApi,
} from './worker-protocol.ts';
import type { StartedWorker } from './worker-start.ts';

/** A channel to the engine in a worker. */
export async function workerChannel(
  { worker, started }: StartedWorker,
  settings: DatabaseSettings,
  answerTimeout: number,
  events: ChannelEvents,
): Promise<Channel> {
  const api = wrap<WorkerApi>(worker) as Remote<WorkerApi>;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }: MessageEvent<WireEvent>) => events.event(eventFromWire(data));
  let waiting = 0;
  /** Live queries wait for as long as they are open. */
  const lives = new Set<number>();
  let lose: (error: WorkerError) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  lost.catch((error: WorkerError) => {
    watchdog.stop();
    port1.close();
    worker.terminate();
    events.lost(error);
  });
  const watchdog = new Watchdog(answerTimeout, {
    busy: () => waiting > 0 || lives.size > 0,
    ping: () => api.ping(),
    silent: () => lose(silentError(answerTimeout)),
  });
  worker.addEventListener('error', (event) => lose(lostError(event)));
  worker.addEventListener('messageerror', (event) => lose(lostError(event)));

  /** Waits for an answer, and no longer than the worker lives. */
  const answer = async <T>(promise: Promise<T>): Promise<T> => {
    waiting++;
    watchdog.wake();
    try {
      return await promise;
    } finally {
      waiting--;
    }
  };
  const succeed = async (promise: Promise<WireError | undefined>): Promise<void> => {
    const error = await answer(Promise.race([promise, lost]));
    if (error) throw fromWire(error);
  };
  const end = () => {
    watchdog.stop();
    api[releaseProxy]();
    port1.close();
    worker.terminate();
  };

  try {
    const opening = api.open(settings, transfer(port2, [port2]));
    const { error, status } = await answer(Promise.race([opening, lost]));
    if (error) throw fromWire(error);
    if (status) events.event({ type: 'status', detail: statusFromWire(status) });
  } catch (error) {
    end();
    throw error;
  }
  return {
    started,
    // What is lost with the worker is rejected by the link.
    execute: async (batch) => {
      for (const request of batch) {
        if (request.op === 'live') lives.add(request.live);
        else if (request.op === 'liveEnd') lives.delete(request.live);
      }
      // It is timed from now on, and not from when the last ping was answered.
      if (batch[0]?.risky && waiting === 0) watchdog.stop();
      const { values, failures, status } = await answer(api.execute(batch));
      if (status) events.event({ type: 'status', detail: statusFromWire(status) });
      return {
        values,
        failures: failures && new Map(failures.map(([at, error]) => [at, fromWire(error)])),
      };
    },
    watch: (on) => answer(Promise.race([api.watch(on), lost])),
    save: () => succeed(api.save()),
    close: async () => {
      try {
        await succeed(api.close());
      } finally {
        end();
      }
    },
  };
}

function lostError(event: Event): WorkerError {
  const { message, error } = event as ErrorEvent;
  const why = message ? `: ${message}` : '';
  return new WorkerError(
    'worker_lost',
    `The worker that hosts the engine failed${why}. Connect again; what was not saved may be lost.`,
    { cause: error ?? undefined },
  );
}

function silentError(seconds: number): WorkerError {
  return new WorkerError(
    'worker_unresponsive',
    `The worker that hosts the engine has not answered for ${seconds} s and was ended. Connect again; what was not saved may be lost.`,
  );
}
