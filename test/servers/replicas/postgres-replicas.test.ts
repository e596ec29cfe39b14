import { afterAll, beforeAll, expect, test } from 'vitest';
import { PostgresServer } from './postgres-server.ts';
import { failuresOf, GROUPS, runTogether, together } from './run-stories.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

test('clients and PostgreSQL, killed in the middle of pushes, become equal', async () => {
  for (const seeds of GROUPS) {
    await runTogether(server, 'crash', seeds, async (stories) => {
      server.fail(failuresOf(seeds));
      await together(stories, (story) => story.act());
      // one that is still due comes now
      await together(stories, (story) => story.push('last'));
    });
  }
  expect(server.crashes).toBeGreaterThanOrEqual(GROUPS.length);
}, 3_600_000);

test('a standby without the newest changes is promoted while clients push', async () => {
  for (const seeds of GROUPS.filter((_, group) => group % 2 === 0)) {
    await runTogether(server, 'promotion', seeds, async (stories) => {
      await server.addStandby();
      await together(stories, (story) => story.act());
      await server.cutStandby();
      await together(stories, (story) => story.push('lost'));
      await together(stories, (story) => story.act());
      await server.shut();
      const before = await together(stories, (story) => story.tokens());
      await server.promote();
      for (const [index, story] of stories.entries())
        expect(await story.restored(before[index] ?? new Set())).toBeGreaterThan(0);
      await together(stories, (story) => story.act());
    });
  }
}, 3_600_000);
