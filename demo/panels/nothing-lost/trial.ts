import { signal } from '@preact/signals';
import { collectionOf } from '../../database/database.ts';
import { status } from '../../database/status.ts';
import { messageOf } from '../../parts/message-of.ts';
import { write, writeAndWait } from './recipes/write.ts';

const KEY = 'trial';

/** What was true in the moment before the page went. Kept by the tab, not by the database on trial. */
interface Before {
  readonly run: string;
  readonly written: number;
  readonly unsaved: number;
  readonly waited: boolean;
}

/** What came of it. */
export interface Outcome extends Before {
  readonly recovered: number;
}

export const outcome = signal<Outcome | undefined>(undefined);
export const trialProblem = signal('');

const notes = () => collectionOf('notes');

const newRun = () => crypto.randomUUID();

/** Writes, and stays. */
export async function writeOnly(count: number): Promise<void> {
  trialProblem.value = '';
  try {
    await write(notes(), newRun(), count);
  } catch (error) {
    trialProblem.value = messageOf(error);
  }
}

/** Writes, and reloads the page in the moment in which that is acknowledged. */
export async function writeAndReload(count: number, waits: boolean): Promise<void> {
  trialProblem.value = '';
  const run = newRun();
  try {
    await (waits ? writeAndWait : write)(notes(), run, count);
    const unsaved = status.peek()?.unsaved ?? 0;
    const before: Before = { run, written: count, unsaved, waited: waits };
    sessionStorage.setItem(KEY, JSON.stringify(before));
    location.reload();
  } catch (error) {
    trialProblem.value = messageOf(error);
  }
}

/** Counts what is there of the writes before the reload, if there were some. */
export async function countRecovered(): Promise<void> {
  const kept = sessionStorage.getItem(KEY);
  if (!kept) return;
  sessionStorage.removeItem(KEY);
  const before: Before = JSON.parse(kept);
  try {
    const recovered = await notes().count({ run: before.run });
    outcome.value = { ...before, recovered };
  } catch (error) {
    trialProblem.value = messageOf(error);
  }
}
