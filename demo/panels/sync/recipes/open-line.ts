import type { RemoteFetch } from 'cairndb/replication';
import type { Handler } from 'cairndb/server';

// The network of one device. While it is cut, requests fail as those of fetch() do without a
// network.
export function openLine(handler: Handler) {
  let line = new AbortController();
  const fetch: RemoteFetch = (url, init) =>
    new Promise((resolve, reject) => {
      const { signal } = line;
      const fail = () => reject(new TypeError('Failed to fetch'));
      if (signal.aborted) return fail();
      signal.addEventListener('abort', fail);
      // A stream of changes goes on after its answer: it ends with the line.
      const either = init.signal ? AbortSignal.any([signal, init.signal]) : signal;
      handler(new Request(url, { ...init, signal: either }))
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', fail));
    });
  return {
    fetch,
    cut: () => line.abort(),
    mend() {
      line = new AbortController();
    },
  };
}
