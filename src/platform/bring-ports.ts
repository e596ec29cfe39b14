/** The scope of a SharedWorker. */
export interface SharedScope {
  onconnect: ((event: MessageEvent) => void) | null;
  close(): void;
}

/**
 * Runs in a SharedWorker. Its first client waits and learns that the worker runs. The port that a
 * later client sends goes to the first, whose next message ends the worker. Its text is a script:
 * it may use nothing from outside.
 */
export function bringPorts(scope: SharedScope): void {
  let first: MessagePort | undefined;
  scope.onconnect = ({ ports: [port] }) => {
    if (!port) return;
    if (first) {
      port.onmessage = ({ ports }) => first?.postMessage(0, ports as MessagePort[]);
      return;
    }
    first = port;
    first.onmessage = () => scope.close();
    first.postMessage(0);
  };
}
