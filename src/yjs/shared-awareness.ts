import {
  type Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness';

interface AwarenessChange {
  readonly added: number[];
  readonly updated: number[];
  readonly removed: number[];
}

/** What a new tab says: the others send what they know. */
const ASK = 'who';

/**
 * Shares the states of people between the tabs, by a channel: they are not stored. Nothing where
 * there are no channels.
 *
 * @returns ends it: the own state leaves the other tabs.
 */
export function shareAwareness(awareness: Awareness, name: string, origin: object): () => void {
  if (typeof BroadcastChannel === 'undefined') return () => undefined;
  const channel = new BroadcastChannel(name);
  // It must not keep a process of Node alive.
  (channel as { unref?(): void }).unref?.();
  const own = [awareness.clientID];
  const send = (clients: number[]) => {
    if (clients.length > 0) channel.postMessage(encodeAwarenessUpdate(awareness, clients));
  };
  const tell = ({ added, updated, removed }: AwarenessChange, from: unknown) => {
    if (from !== origin) send([...added, ...updated, ...removed]);
  };
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (data === ASK) return send([...awareness.getStates().keys()]);
    try {
      applyAwarenessUpdate(awareness, data as Uint8Array, origin);
    } catch {
      // Any script of this origin may post anything here.
    }
  };
  // A page in the back/forward cache takes its state along.
  let left: ReturnType<Awareness['getLocalState']> = null;
  const leave = () => {
    left = awareness.getLocalState();
    removeAwarenessStates(awareness, own, 'left');
  };
  const enter = () => {
    if (left) awareness.setLocalState(left);
    left = null;
    channel.postMessage(ASK);
  };
  const page = globalThis as Partial<Pick<Window, 'addEventListener' | 'removeEventListener'>>;
  awareness.on('update', tell);
  page.addEventListener?.('pagehide', leave);
  page.addEventListener?.('pageshow', enter);
  send(own.filter((client) => awareness.getStates().has(client)));
  channel.postMessage(ASK);
  return () => {
    page.removeEventListener?.('pagehide', leave);
    page.removeEventListener?.('pageshow', enter);
    removeAwarenessStates(awareness, own, 'closed');
    awareness.off('update', tell);
    channel.close();
  };
}
