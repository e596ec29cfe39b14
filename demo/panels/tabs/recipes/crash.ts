let worker: Worker | undefined;

export function makeWorker(): Worker {
  worker = new Worker(new URL('./engine.ts', import.meta.url), { type: 'module' });
  return worker;
}

// An uncaught error. The browser reports it to the page.
export const throwInWorker = () => worker?.postMessage('throw');

// Ends it as a lack of memory would. The page gets no event.
export const endWorker = () => worker?.terminate();
