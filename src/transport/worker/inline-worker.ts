import script from 'virtual:worker-script';

/** A worker with no file of its own, for bundlers that do not carry the file along. */
export function inlineWorker(): Worker {
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  try {
    return new Worker(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}
