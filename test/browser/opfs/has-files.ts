/**
 * Whether this browser has files of the origin private file system in workers. WebKitGTK has the
 * functions, and they fail.
 *
 * @throws in another browser without them: its tests would leave out what they are for.
 */
export async function hasFiles(): Promise<boolean> {
  const script = `navigator.storage.getDirectory()
    .then((root) => root.getFileHandle('probe', { create: true }))
    .then((file) => file.createSyncAccessHandle())
    .then((file) => (file.close(), postMessage(true)), () => postMessage(false));`;
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const worker = new Worker(url);
  const found = await new Promise<boolean>((resolve) => {
    worker.onmessage = ({ data }) => resolve(data === true);
  });
  worker.terminate();
  URL.revokeObjectURL(url);
  const isWebKit = /Version\/\S+ Safari\//.test(navigator.userAgent);
  if (!found && !isWebKit) throw new Error('There are no files in this browser.');
  return found;
}
