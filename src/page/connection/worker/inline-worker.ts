import script from 'virtual:worker-script';
import { blobWorker } from './blob-worker.ts';

/** The engine's worker from a Blob, for bundlers that do not emit its script. */
export function inlineWorker(): Worker {
  return blobWorker(script);
}
