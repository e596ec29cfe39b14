import script from 'virtual:worker-script';
import { blobWorker } from './blob-worker.ts';

/** The worker of the engine from a Blob, for bundlers that do not carry its file along. */
export function inlineWorker(): Worker {
  return blobWorker(script);
}
