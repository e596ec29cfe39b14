import { isOwn } from '../../database/own-tables.ts';
import { citiesSource } from '../../sources/cities.ts';
import { FillShop } from '../../sources/fill-shop.tsx';
import { ImportControl } from '../../sources/import-control.tsx';
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
    <FillShop />
  );
}
