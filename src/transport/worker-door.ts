import { WorkerError } from '../errors/worker-error.ts';
import type { Channel, ChannelEvents, DatabaseSettings } from './channel.ts';
import { RestartingChannel } from './restarting-channel.ts';
import { workerChannel } from './worker-channel.ts';
import { startWorker, type WorkerSource } from './worker-start.ts';

/** How to get and to watch a worker. */
export interface WorkerSettings {
  /** The caller's own. */
  readonly worker: WorkerSource | undefined;
  /** Seconds of silence after which it counts as dead. */
  readonly answer_timeout: number;
}

/** A channel to the engine in a worker, or in this thread where no worker can be had. */
export async function workerOrThread(
  { worker, answer_timeout }: WorkerSettings,
  settings: DatabaseSettings,
  events: ChannelEvents,
): Promise<Channel> {
  const reasons: string[] = [];
  const begin = async (own: ChannelEvents): Promise<Channel | undefined> => {
    const started = await startWorker(worker, (reason) => {
      reasons.push(reason instanceof WorkerError ? reason.message : String(reason));
    });
    return started && workerChannel(started, settings, answer_timeout, own);
  };
  // A worker that the caller has made cannot be made again.
  const again = worker === undefined || typeof worker === 'function';
  const channel = await (again ? RestartingChannel.start(begin, events) : begin(events));
  if (channel) return channel;
  console.warn(
    `cairndb runs in this thread, because no worker could be started: ${reasons.join(' ')}`,
  );
  const { threadChannel } = await import('./thread-channel.ts');
  return threadChannel(settings, events);
}
