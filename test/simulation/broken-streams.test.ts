import { EventStream } from '../../src/replication/fetching/event-stream.ts';
import type { PulledPage } from '../../src/replication/protocol/remote.ts';
import { RemoteCalls } from '../../src/replication/rounds/remote-calls.ts';
import { FirstPulls } from '../../src/server/first-pull.ts';
import { change, findsBroken } from './broken.ts';
import { SimStream } from './replication-http.ts';
import { runStreams } from './run-replication.ts';

const finds = findsBroken(runStreams, 600);

finds('an event that is taken though it is older than a push is found out', () => {
  let brought: PulledPage<string> | undefined;
  change(EventStream.prototype, 'take', (take, ...args) => {
    brought = take(...args);
    return brought;
  });
  change(RemoteCalls.prototype, 'pull', (pull, ...args) => {
    brought = undefined;
    const pulled = pull(...args);
    if (!brought) return pulled;
    pulled.catch(() => undefined);
    return Promise.resolve(brought);
  });
});

finds('an event that is taken at another place than its own is found out', () => {
  const ends = new WeakMap<SimStream, string>();
  change(SimStream.prototype, 'sendPage', function (sendPage, at, after, page) {
    // Where the one before has led to, though that may have been left out.
    const isSent = sendPage(at, ends.get(this) ?? after, page);
    if (isSent) ends.set(this, page.checkpoint);
    return isSent;
  });
});

finds('a packed page that leads to another place than its own is found out', () => {
  const kept = new WeakMap<FirstPulls, string[]>();
  change(FirstPulls.prototype, 'answer', async function (answer, ...args) {
    const response = await answer(...args);
    if (!response || args[2] !== undefined) return response;
    // Documents as they were first, and the place where the newest ones are.
    const [head, ...lines] = (await response.text()).split('\n');
    const first = kept.get(this) ?? lines;
    kept.set(this, first);
    return new Response([head, ...first].join('\n'));
  });
});
