import { effect, signal } from '@preact/signals';
import type { CollectionUsage, StorageStatus } from 'cairndb';
import { connection } from '../../database/database.ts';
import { saves } from '../../database/status.ts';
import { messageOf } from '../../parts/message-of.ts';
import { keepForGood, room } from './recipes/room.ts';

const SAMPLE_MS = 2000;
const MOST_SAMPLES = 150;

/** The usage at a time. */
export interface Sample {
  /** Milliseconds since the page was opened. */
  readonly at: number;
  /** Bytes. */
  readonly usage: number;
}

type Bytes = number | 'unsupported' | undefined;

export const usage = signal<Bytes>(undefined);
export const quota = signal<Bytes>(undefined);
export const storageStatus = signal<StorageStatus | undefined>(undefined);
export const samples = signal<readonly Sample[]>([]);
export const collections = signal<readonly CollectionUsage[]>([]);
export const storageProblem = signal('');
/** The browser's answer to the request for persistence. */
export const persistAnswer = signal('');

/** Polls the usage. Returns the function that stops it. */
export function watchUsage(): () => void {
  const timer = setInterval(look, SAMPLE_MS);
  const stop = effect(() => {
    saves.value;
    look();
  });
  return () => {
    clearInterval(timer);
    stop();
  };
}

let isLooking = false;

async function look(): Promise<void> {
  if (isLooking) return;
  isLooking = true;
  try {
    const now = await room(connection());
    usage.value = now.usage;
    quota.value = now.quota;
    storageStatus.value = now.status;
    collections.value = now.collections;
    storageProblem.value = '';
    if (now.usage === 'unsupported') return;
    const sample = { at: performance.now(), usage: now.usage };
    samples.value = [...samples.peek(), sample].slice(-MOST_SAMPLES);
  } catch (error) {
    storageProblem.value = messageOf(error);
  } finally {
    isLooking = false;
  }
}

export async function askToKeep(): Promise<void> {
  try {
    const isKept = await keepForGood(connection());
    persistAnswer.value =
      isKept === true
        ? 'Granted: the data stays until you remove it.'
        : 'Denied for now. Browsers usually grant this to pages that are installed or visited often.';
    await look();
  } catch (error) {
    persistAnswer.value = messageOf(error);
  }
}
