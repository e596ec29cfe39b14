export function blobWorker(script: string, type: WorkerType = 'classic'): Worker {
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  try {
    return new Worker(url, { type });
  } finally {
    URL.revokeObjectURL(url);
  }
}
