import { connectWorker } from '../../page/worker-calls.mjs';
import { visit } from './people.mjs';

const worker = new Worker(new URL('../../page/peers/sqlite-worker.mjs', import.meta.url), {
  type: 'module',
});
const call = connectWorker(worker);
const opened = call('open', 'first-visit-sqlite');
visit({
  fill: async (documents) => {
    await opened;
    await call('insertMany', documents);
  },
  findGroup: async (group) => {
    await opened;
    return call('findGroup', group);
  },
});
