import { effect, signal } from '@preact/signals';
import { collectionOf } from '../../database/database.ts';
import { tables } from '../../database/own-tables.ts';
import { saves } from '../../database/status.ts';
import { messageOf } from '../../parts/message-of.ts';
import { contentOf } from './recipes/content.ts';
import { keepForGood, room } from './recipes/room.ts';

const SAMPLE_MS = 2000;
const MOST_SAMPLES = 150;

/** What the browser said at a time. */
export interface Sample {
  /** Milliseconds since the page was opened. */
  readonly at: number;
  readonly usage: number;
}

export interface Content {
  readonly name: string;
  readonly title: string;
  /** What it holds, once it is weighed. */
  readonly weight: { readonly documents: number; readonly bytes: number } | undefined;
}

export const quota = signal(0);
export const isPersisted = signal<boolean | undefined>(undefined);
export const samples = signal<readonly Sample[]>([]);
export const contents = signal<readonly Content[]>(
  tables.peek().map(({ name, title }) => ({ name, title, weight: undefined })),
);
export const storageProblem = signal('');
/** What became of asking for persistence. */
export const persistAnswer = signal('');

/** Looks again and again until the function that it returns is called. */
export function watchUsage(): () => void {
  const timer = setInterval(sampleUsage, SAMPLE_MS);
  const stop = effect(() => {
    saves.value;
    tables.value;
    sampleUsage();
    weighAll();
  });
  return () => {
    clearInterval(timer);
    stop();
  };
}

async function sampleUsage(): Promise<void> {
  try {
    const now = await room();
    quota.value = now.quota;
    isPersisted.value = now.isPersisted;
    const sample = { at: performance.now(), usage: now.usage };
    samples.value = [...samples.peek(), sample].slice(-MOST_SAMPLES);
  } catch (error) {
    storageProblem.value = `The browser does not tell: ${messageOf(error)}`;
  }
}

let isWeighing = false;

async function weighAll(): Promise<void> {
  if (isWeighing) return;
  isWeighing = true;
  try {
    contents.value = await Promise.all(
      tables.peek().map(async ({ name, title }) => {
        return { name, title, weight: await contentOf(collectionOf(name)) };
      }),
    );
  } catch (error) {
    storageProblem.value = messageOf(error);
  } finally {
    isWeighing = false;
  }
}

export async function askToKeep(): Promise<void> {
  try {
    isPersisted.value = await keepForGood();
    persistAnswer.value = isPersisted.value
      ? ''
      : 'The browser said no for now. Installing the page or visiting it often changes its mind.';
  } catch (error) {
    persistAnswer.value = messageOf(error);
  }
}
