import { fileScripts, hasPageOrigin, workerFile } from '../worker/worker-scripts.ts';
import { bringPorts } from './bring-ports.ts';

/** Brings ports from one tab to another. */
export interface Switchboard {
  /**
   * Waits for a port from another tab.
   *
   * @param opened Called with the address for other tabs; never where the page's policy forbids workers from Blobs.
   * @returns ends the wait.
   */
  open(opened: (address: string) => void, brought: (port: MessagePort) => void): () => void;
  /** Brings a port to the tab that waits at an address. */
  bring(address: string, port: MessagePort): void;
}

/**
 * One SharedWorker per port: nothing else brings a port to another tab. Its script is the file of a worker, or a Blob,
 * which a strict content security policy refuses. The address is what makes it: `SharedWorker`'s arguments as JSON, or
 * the URL of the Blob, which is unique as it is.
 */
export const sharedWorkerSwitchboard: Switchboard = {
  open(opened, brought) {
    const file = workerFile(fileScripts);
    const address =
      file && hasPageOrigin(file.url)
        ? JSON.stringify([file.url, { type: file.type, name: `cairn:${crypto.randomUUID()}` }])
        : URL.createObjectURL(new Blob([`(${bringPorts})(self)`], { type: 'text/javascript' }));
    const worker = reach(address);
    const end = () => {
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
    return end;
  },
  bring(address, port) {
    reach(address)?.postMessage(0, [port]);
  },
};

/** If this fails, the tabs keep their BroadcastChannel. */
function reach(address: string): MessagePort | undefined {
  try {
    const [url, options] = address.startsWith('[') ? JSON.parse(address) : [address];
    return new SharedWorker(url, options).port;
  } catch {
    return undefined;
  }
}
