import { isOwn } from '../../database/own-tables.ts';
import { citiesSource } from '../../sources/cities.ts';
import { ImportControl } from '../../sources/import-control.tsx';
import { importJob, runImport } from '../../sources/import-job.ts';
import { SHOP } from '../../sources/shop.ts';
import { table } from './view.ts';

/** Replaces an empty grid with a way to fill it. */
export function FillTable() {
  return <div class="fill-table card">{offer()}</div>;
}

function offer() {
  if (isOwn(table.value)) {
    return (
      <>
        <h2>The table is empty</h2>
        <p class="soft">Open the file again to restore its rows.</p>
      </>
    );
  }
  return table.value.name === 'cities' ? (
    <>
      <h2>Every city with about a thousand people or more</h2>
      <p class="soft">From geonames.org, 3 MB, available offline.</p>
      <ImportControl source={citiesSource} have={0} label="Load 135,233 cities" />
    </>
  ) : (
    <>
      <h2>A small shop</h2>
      <p class="soft">
        2,000 customers, 240 products and 10,000 orders that refer to both by <code>_id</code>. A
        seeded generator makes the same shop each time.
      </p>
      <button
        type="button"
        class="button primary"
        disabled={importJob.value?.state === 'running'}
        onClick={fillShop}
      >
        Fill the shop
      </button>
    </>
  );
}

async function fillShop(): Promise<void> {
  for (const source of SHOP) {
    if (!(await runImport(source))) return;
  }
}
