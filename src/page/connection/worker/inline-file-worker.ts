import script from 'virtual:file-worker-script';
import { blobWorker } from './blob-worker.ts';

/** The worker for files from a Blob, for bundlers that do not emit its script. */
export function inlineFileWorker(): Worker {
  return blobWorker(script);
}
