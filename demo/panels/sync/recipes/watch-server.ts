import type { MemoryStore, WireChange } from 'cairndb/server';

// The newest state of each document, in the order of the changes. Devices pull the same, from their
// checkpoint.
export async function watchServer(
  store: MemoryStore,
  signal: AbortSignal,
  show: (rows: readonly WireChange[]) => void,
) {
  while (!signal.aborted) {
    const { changes, checkpoint } = await store.pull('items', undefined, 1000);
    show(changes);
    await store.watch('items', checkpoint, signal);
  }
}
