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
 * The script of a SharedWorker. Its first client waits and learns that the worker runs. The port that a later client
 * sends goes to the first, whose next message ends the worker.
 */
const SCRIPT =
  'let f;onconnect=({ports:[p]})=>{if(f)p.onmessage=({ports:q})=>f.postMessage(0,q);else(f=p).onmessage=()=>close(),p.postMessage(0)}';

/**
 * One SharedWorker per port: nothing else brings a port to another tab. Its script is a Blob, whose URL is the address.
 * A script file would need configuration by the site.
 */
export const sharedWorkerSwitchboard: Switchboard = {
  open(opened, brought) {
    const url = URL.createObjectURL(new Blob([SCRIPT], { type: 'text/javascript' }));
    const worker = reach(url);
    const end = () => {
      URL.revokeObjectURL(url);
      worker?.postMessage(0);
      worker?.close();
    };
    worker?.addEventListener('message', ({ ports: [port] }) => {
      if (!port) return opened(url);
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
function reach(url: string): MessagePort | undefined {
  try {
    return new SharedWorker(url).port;
  } catch {
    return undefined;
  }
}
