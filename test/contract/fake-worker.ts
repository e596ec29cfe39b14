import { serve } from '../../src/engine/host/worker-host.ts';

/** A stand-in for a worker with `cairndb/worker`: an engine behind a MessageChannel. */
export function fakeWorker(): Worker {
  const { port1, port2 } = new MessageChannel();
  serve(port2);
  port2.start();
  port1.start();
  return {
    postMessage: port1.postMessage.bind(port1),
    addEventListener: port1.addEventListener.bind(port1),
    removeEventListener: port1.removeEventListener.bind(port1),
    terminate: () => {
      port1.close();
      port2.close();
    },
  } as unknown as Worker;
}
