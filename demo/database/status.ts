import { computed, effect, signal } from '@preact/signals';
import type { ClientStatus } from 'cairndb';
import { connection } from './database.ts';

/** The status of the database, kept current. */
export const status = signal<ClientStatus | undefined>(undefined);

/** Number of saves since the page was opened. */
export const saves = signal(0);

export const unsavedCount = computed(() => status.value?.unsaved ?? 0);

export const saveState = computed((): 'idle' | 'opening' | 'saved' | 'unsaved' | 'failed' => {
  const { state, unsaved } = status.value ?? {};
  if (state === 'failed') return 'failed';
  if (state === 'idle') return 'idle';
  if (state !== 'open') return 'opening';
  return unsaved ? 'unsaved' : 'saved';
});

effect(() => {
  const open = connection();
  status.value = open.status;
  const stops = [
    open.on('status', (next) => {
      status.value = next;
    }),
    open.on('save', () => {
      saves.value += 1;
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
});
