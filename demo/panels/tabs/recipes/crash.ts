let worker: Worker | undefined;

export function makeWorker(): Worker {
  worker = new Worker(new URL('./engine.ts', import.meta.url), { type: 'module' });
  return worker;
}

// An error that nothing catches. The browser tells the page of it.
export const throwInWorker = () => worker?.postMessage('throw');

// Its end from outside, as when memory runs out. Nobody is told.
export const endWorker = () => worker?.terminate();
