import { bringPorts } from '../../platform/bring-ports.ts';
import type { Switchboard } from '../../platform/platform.ts';
import type { WorkerFile } from './worker/worker-scripts.ts';

/**
 * One SharedWorker per port: nothing else brings a port to another tab. Its script is the file of a
 * worker, or a Blob, which a strict content security policy refuses. The address is what makes it:
 * `SharedWorker`'s arguments as JSON, or the URL of the Blob, which is unique as it is.
 * docs/decisions/017-tabs.md says when a port is faster.
 */
export const sharedWorkerSwitchboard: Switchboard = {
  open(opened, brought) {
    let isOver = false;
    let end = (): void => {
      isOver = true;
    };
    scriptAddress().then((address) => {
      if (isOver) return URL.revokeObjectURL(address);
      const worker = reach(address);
      end = () => {
        URL.revokeObjectURL(address);
        worker?.postMessage(0);
        worker?.close();
      };
      worker?.addEventListener('message', ({ ports: [port] }) => {
        if (!port) return opened(address);
        end();
        brought(port);
      });
      worker?.start();
    }, ignore);
    return () => end();
  },
  bring(address, port) {
    reach(address)?.postMessage(0, [port]);
  },
};

async function scriptAddress(): Promise<string> {
  const file = await fileOfWorker();
  if (file) {
    const options = { type: file.type, name: `cairn:${crypto.randomUUID()}` };
    return JSON.stringify([file.url, options]);
  }
  return URL.createObjectURL(new Blob([`(${bringPorts})(self)`], { type: 'text/javascript' }));
}

async function fileOfWorker(): Promise<WorkerFile | undefined> {
  try {
    // On demand: Jest's CommonJS cannot read `import.meta`.
    const { fileScripts, hasPageOrigin, workerFile } = await import('./worker/worker-scripts.ts');
    const file = workerFile(fileScripts);
    return file && hasPageOrigin(file.url) ? file : undefined;
  } catch {
    return undefined; // offline, and not cached: a Blob needs no request
  }
}

/** Without a script the tabs keep their BroadcastChannel. */
const ignore = () => undefined;

/** If this fails, the tabs keep their BroadcastChannel. */
function reach(address: string): MessagePort | undefined {
  try {
    const [url, options] = address.startsWith('[') ? JSON.parse(address) : [address];
    return new SharedWorker(url, options).port;
  } catch {
    return undefined;
  }
}
