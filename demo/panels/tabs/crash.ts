import { noteEnd } from './engine-ends.ts';
import { endWorker, throwInWorker } from './recipes/crash.ts';
import { lay, ME, sharedStatus } from './shared.ts';

type Crash = 'thrown' | 'ended';

/** Tells the tab that leads: the worker is there. */
const requests = new BroadcastChannel('tabs-crash');

requests.addEventListener('message', ({ data }: MessageEvent<Crash>) => {
  if (sharedStatus.peek().leader) endHere(data);
});

/** Brings the worker down, and in the same moment asks for a change. */
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
