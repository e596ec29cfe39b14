import { expect, inject, test } from 'vitest';
import { useCouchServer } from '../../replication/couchdb/couch-server.ts';
import { Random } from '../../setup/random.ts';
import { CouchCluster } from './couch-cluster.ts';
import { failuresOf, GROUPS, runTogether, together } from './run-stories.ts';

const server = useCouchServer();

test('clients and CouchDB, whose connections break in the middle of pushes, become equal', async () => {
  const cluster = new CouchCluster(server(), new Random(inject('seed')));
  for (const seeds of GROUPS) {
    await runTogether(cluster, 'crash', seeds, async (stories) => {
      cluster.fail(failuresOf(seeds));
      await together(stories, (story) => story.act());
      // one that is still due comes now
      await together(stories, (story) => story.push('last'));
    });
  }
  expect(cluster.restarts).toBeGreaterThanOrEqual(GROUPS.length);
}, 3_600_000);
