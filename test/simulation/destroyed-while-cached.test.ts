import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

// The epochs of the new database begin at 1 again.
test('a page that returns after another has deleted its database does not steal from the new leader', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    for (let id = 0; id < 3; id++) {
      const { db } = new Tab(id, browser);
      const log = new db.Collection({ name: 'log', type: 'KEY_VALUE_BASED' });
      // A leader claims its epoch with its first write.
      await world.hear(log.set('n', id), 3000);
      await world.hear(db.close(), 3000);
    }
    const cached = new Tab(3, browser);
    await world.hear(cached.db.ready, 3000);
    const destroyer = new Tab(4, browser);
    cached.rest(20_000);
    await world.hear(destroyer.db.ready, 3000);
    await world.hear(destroyer.db.destroy(), 10_000);
    const leader = new Tab(5, browser);
    await world.hear(leader.db.ready, 3000);
    const leads = new Set<boolean | undefined>();
    await world.runUntil(world.now + 30_000, () => {
      leads.add(leader.db.status.leader);
      return false;
    });
    expect([seed, ...leads]).toEqual([seed, true]);
    expect(cached.db.status).toMatchObject({
      state: 'failed',
      last_error: { code: 'database_destroyed' },
    });
  }
});
