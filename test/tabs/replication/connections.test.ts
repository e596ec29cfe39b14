import { expect, test } from 'vitest';
import { runs } from '../../e2e/open-playground.ts';
import { isNight } from '../../setup/at-night.ts';
import type { TabScope } from '../page/page.ts';
import { type AnyTab, engines } from './engines.ts';
import { serveSync } from './sync-site.ts';

declare const window: TabScope;

const ALL = Array.from({ length: 12 }, (_, n) => `${n}`);

/** Runs in a page: opens databases of its own, each with a replication and a document. */
async function openDatabases(names: readonly string[], url: string): Promise<void> {
  const { http, replicate } = await window.loadReplication();
  window.clients = names.map((name: string) => {
    const db = window.connect({ name });
    const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
    // Each asks for headers of its own, and so has a stream of its own.
    const sync = replicate(orders, { remote: http({ url, headers: () => ({}) }) });
    return { name, orders, sync };
  });
  for (const { name, orders } of window.clients) await orders.insert({ _id: name });
}

const settle = (tab: AnyTab) =>
  tab.run(async () => {
    for (const { sync } of window.clients) await sync.settled({ timeout: 60_000 });
  });
const idsOf = (tab: AnyTab) =>
  tab.run(() =>
    Promise.all(
      window.clients.map(async ({ orders }: TabScope) =>
        (await orders.filter({})).map((one: { _id: string }) => Number(one._id)).sort(),
      ),
    ),
  );

/** Connections are counted by each browser in its own way. */
const ENGINES = Object.entries(engines).filter(
  ([name]) => runs(name) && (isNight || name === 'chromium'),
);

test.for(ENGINES)(
  '%s: twelve clients of one browser over HTTP/1.1 send and hear all changes',
  async ([engine, start]) => {
    const [browser, server] = await Promise.all([start(), serveSync()]);
    try {
      // Its driver has two.
      const count = engine === 'webkit' ? 2 : 6;
      const tabs: AnyTab[] = [];
      for (let tab = 0; tab < count; tab++) tabs.push(await browser.open());
      const names = (at: number) => ALL.filter((_, n) => n % count === at);
      const url = `${server.url}/orders`;
      await Promise.all(tabs.map((tab, at) => tab.run(openDatabases, names(at), url)));
      await Promise.all(tabs.map(settle));
      expect(Object.keys(await server.documents('orders')).sort()).toEqual([...ALL].sort());
      await server.write('orders', { _id: '12' });
      const all = [...ALL, '12'].map(Number).sort();
      for (const [at, tab] of tabs.entries())
        await expect.poll(() => idsOf(tab)).toEqual(names(at).map(() => all));
      const listening = async () => {
        const polls = await Promise.all(
          tabs.map((tab) =>
            tab.run(() => window.clients.map(({ sync }: TabScope) => sync.status.polls as boolean)),
          ),
        );
        return polls.flat().filter((one) => !one).length;
      };
      await expect.poll(listening).toBe(3);
      expect(server.streams()).toBe(3);
    } finally {
      await browser.close();
      await server.close();
    }
  },
);
