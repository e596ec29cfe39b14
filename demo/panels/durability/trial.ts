import { signal } from '@preact/signals';
import { collectionOf } from '../../database/database.ts';
import { status } from '../../database/status.ts';
import { messageOf } from '../../parts/message-of.ts';
import { countWritten } from './recipes/closing-tab.ts';
import { write, writeAndWait } from './recipes/write.ts';

/** The state just before the page ended. */
interface Before {
  readonly run: string;
  readonly written: number;
  readonly unsaved: number;
  readonly waited: boolean;
}

/** The state after it ended. */
export interface Outcome extends Before {
  readonly end: 'reloaded' | 'closed';
  readonly recovered: number;
}

export const outcome = signal<Outcome | undefined>(undefined);
export const trialProblem = signal('');

/** In sessionStorage: the note must not depend on the database under test. */
const KEY = 'trial';
const LOOK_MS = 20;
const LOOKS_AFTER_END = 50;

const notes = () => collectionOf('notes');

const newRun = () => crypto.randomUUID();

async function perform(trial: () => Promise<unknown>): Promise<void> {
  trialProblem.value = '';
  try {
    await trial();
  } catch (error) {
    trialProblem.value = messageOf(error);
  }
}

/** Only writes. */
export const writeOnly = (count: number): Promise<void> =>
  perform(() => write(notes(), newRun(), count));

/** Writes, and reloads the page once the write is acknowledged, or saved. */
export const writeAndReload = (count: number, waits: boolean): Promise<void> =>
  perform(async () => {
    const run = newRun();
    await (waits ? writeAndWait : write)(notes(), run, count);
    const unsaved = status.peek()?.unsaved ?? 0;
    const before: Before = { run, written: count, unsaved, waited: waits };
    sessionStorage.setItem(KEY, JSON.stringify(before));
    location.reload();
  });

/** Counts the recovered documents after a reload. */
export const countRecovered = (): Promise<void> =>
  perform(async () => {
    const kept = sessionStorage.getItem(KEY);
    if (!kept) return;
    sessionStorage.removeItem(KEY);
    const before: Before = JSON.parse(kept);
    const recovered = await notes().count({ run: before.run });
    outcome.value = { ...before, end: 'reloaded', recovered };
  });

/** Lets another tab write and close itself, and counts the recovered documents. */
export const writeAndClose = (count: number, waits: boolean): Promise<void> =>
  perform(async () => {
    const run = newRun();
    const address = `./closing-tab.html?run=${run}&count=${count}${waits ? '&waits' : ''}`;
    outcome.value = undefined;
    const tab = window.open(address);
    if (!tab) throw new Error('The browser blocked the new tab.');
    const unsaved = await unsavedAtEnd(tab, run);
    const recovered = await countWritten(run);
    outcome.value = { run, written: count, unsaved, waited: waits, end: 'closed', recovered };
  });

/** The unsaved changes that the tab reported, once it is closed. */
async function unsavedAtEnd(tab: Window, run: string): Promise<number> {
  let unsaved: number | undefined;
  const hear = ({ data }: MessageEvent) => {
    if (data?.run === run) unsaved = data.unsaved;
  };
  addEventListener('message', hear);
  try {
    while (!tab.closed) await lookAgain();
    // Its last message may arrive after it closed.
    for (let looks = 0; unsaved === undefined && looks < LOOKS_AFTER_END; looks++)
      await lookAgain();
  } finally {
    removeEventListener('message', hear);
  }
  if (unsaved !== undefined) return unsaved;
  throw new Error('The tab was closed before its write was acknowledged.');
}

const lookAgain = () => new Promise((resolve) => setTimeout(resolve, LOOK_MS));
