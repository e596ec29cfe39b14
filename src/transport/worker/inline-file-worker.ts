import script from 'virtual:file-worker-script';
import { blobWorker } from './blob-worker.ts';

/** The worker of a file from a Blob, for bundlers that do not carry its file along. */
export function inlineFileWorker(): Worker {
  return blobWorker(script);
}
