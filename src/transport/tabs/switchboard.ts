/** Brings ports from one tab to another. */
export interface Switchboard {
  /**
   * Waits for a port from another tab.
   *
   * @param opened Told where other tabs can bring it; never where the page's policy forbids this.
   * @returns what ends the waiting.
   */
  open(opened: (address: string) => void, brought: (port: MessagePort) => void): () => void;
  /** Brings a port to whoever waits at an address. */
  bring(address: string, port: MessagePort): void;
}

/**
 * The first that connects waits, and is told that it can be reached. The port that a later one sends goes to it. It
 * sends something when it is done.
 */
const SCRIPT =
  'let f;onconnect=({ports:[p]})=>{if(f)p.onmessage=({ports:q})=>f.postMessage(0,q);else(f=p).onmessage=()=>close(),p.postMessage(0)}';

/**
 * A SharedWorker for each meeting, as nothing else can bring a port to another tab. Its script comes from a Blob, whose URL the
 * other tab is told: a script that sites have to serve would have to be configured.
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

/** What fails here leaves the tabs the channel that they have. */
function reach(url: string): MessagePort | undefined {
  try {
    return new SharedWorker(url).port;
  } catch {
    return undefined;
  }
}
