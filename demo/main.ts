import { connect } from 'cairndb';
import { CityStore } from './city-store.ts';
import { ImportPanel } from './panels/import-panel.ts';
import { QueryPanel } from './panels/query-panel.ts';
import { StatusPanel } from './panels/status-panel.ts';
import { Results } from './results.ts';

const INVITATION = 'Nothing is here yet. Import the cities, and reload the page whenever you like.';

const began = performance.now();
const db = connect({ name: 'playground' });
const store = new CityStore(db);

const status = new StatusPanel(db);
const results = new Results(store, count);
const query = new QueryPanel((asked) => results.find(asked));
const imports = new ImportPanel(store, {
  began: () => results.follow(),
  imported: (cities, documents) => {
    results.append(cities);
    status.showCount(documents);
  },
  ended: count,
  startedOver: () => {
    results.clear(INVITATION);
    return count();
  },
});

async function count(): Promise<number> {
  const documents = await store.count();
  status.showCount(documents);
  imports.offer(documents);
  return documents;
}

async function open(): Promise<void> {
  try {
    const documents = await count();
    status.showOpened(performance.now() - began);
    if (documents > 0) await query.run();
    else results.clear(INVITATION);
  } catch (error) {
    results.clear(error instanceof Error ? error.message : String(error));
  }
}

open();
