import { importJob, runImport } from './import-job.ts';
import { SHOP } from './shop.ts';

/** A way to fill the shop while it is empty. */
export function FillShop() {
  return (
    <>
      <h2>A small shop</h2>
      <p class="soft">
        2,000 customers, 240 products and 10,000 orders that refer to both by <code>_id</code>. A
        seeded generator makes the same shop each time.
      </p>
      <button
        type="button"
        class="button primary"
        data-part="fill-shop"
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
