import { noteEnd } from './engine-ends.ts';
import { endWorker, throwInWorker } from './recipes/crash.ts';
import { lay, ME, sharedStatus } from './shared.ts';

type Crash = 'thrown' | 'ended';

/** Reaches the leader, which has the worker. */
const requests = new BroadcastChannel('tabs-crash');

requests.addEventListener('message', ({ data }: MessageEvent<Crash>) => {
  if (sharedStatus.peek().leader) endHere(data);
});

/** Crashes the worker and makes a change at the same moment. */
export function crash(how: Crash): void {
  if (sharedStatus.peek().leader) endHere(how);
  else requests.postMessage(how);
  lay();
}

function endHere(how: Crash): void {
  noteEnd(how, ME);
  if (how === 'thrown') throwInWorker();
  else endWorker();
}
