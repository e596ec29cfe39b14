import { useEffect } from 'preact/hooks';
import { hrefOf } from '../../app/route.ts';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { PanelFrame } from '../../parts/panel.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import { Balance } from './balance.tsx';
import { Checkout } from './checkout.tsx';
import { joinRushes, RUSH, rushEverywhere } from './ordering.ts';
import openSource from './recipes/open-shop.ts?raw';
import orderSource from './recipes/place-order.ts?raw';
import unsafeSource from './recipes/place-order-unsafely.ts?raw';
import restockSource from './recipes/restock.ts?raw';
import watchSource from './recipes/watch-shop.ts?raw';
import { Shelf } from './shelf.tsx';
import { fillShelf, followShop, openShelf, sight } from './shop.ts';
import { chooseWay, way } from './way.ts';
import './transactions-panel.css';

/** A shop that several pages order from at once, with transactions or without. */
export function TransactionsPanel() {
  useEffect(() => {
    openShelf();
    const stops = [joinRushes(), followShop()];
    return () => stops.forEach((stop) => void stop());
  }, []);
  return (
    <PanelFrame
      title="Two tabs, one stock."
      lead="An order reads the stock, asks for a delivery price, takes from the stock and writes the order. A transaction does all of it or nothing. If another tab was faster, it runs again."
    >
      <Balance />
      <section class="card" aria-labelledby="shelf-title">
        <h2 id="shelf-title">The shop</h2>
        <div class="shop-controls">
          <Segmented
            legend="How to place orders"
            name="way"
            options={[
              ['transaction', 'With transactions'],
              ['unsafe', 'Without'],
            ]}
            value={way.value}
            onChange={chooseWay}
          />
          <button type="button" class="button primary" onClick={rushEverywhere}>
            Place {RUSH} orders in every page
          </button>
          <div class="shop-others">
            <button type="button" class="button" onClick={fillShelf}>
              Start over
            </button>
            <a class="button" href={hrefOf({ id: 'transactions' })} target="_blank" rel="noopener">
              Open another tab
            </a>
          </div>
        </div>
        <p class="soft small">
          The {RUSH} orders begin with a full shop: earlier ones are removed. All pages order at
          once, random products, one order after the other. Each order waits a few milliseconds for
          the delivery price: time for another page to take from the same stock.
        </p>
        <Shelf />
        <ul class="shelf-legend soft small" aria-hidden="true">
          <li>in stock</li>
          <li>ordered</li>
          <li>ordered, but never taken from the stock</li>
        </ul>
      </section>
      <div class="checkouts">
        <Checkout title="This tab" text="One client of the database." />
        <div class="checkout-frame">
          {/* After this tab: whichever page is first runs the engine, and this one stays longer. */}
          {sight.value && <iframe src="./second-page.html" title="A second page of the shop" />}
        </div>
      </div>
      <CodeSection>
        <CodeSample title="Place an order" source={orderSource} />
        <CodeSample title="The same without a transaction" source={unsafeSource} />
        <CodeSample title="Read both collections as of one moment" source={watchSource} />
        <CodeSample title="Start over" source={restockSource} />
        <CodeSample title="Open the shop" source={openSource} />
      </CodeSection>
    </PanelFrame>
  );
}
