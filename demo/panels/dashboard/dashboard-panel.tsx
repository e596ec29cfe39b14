import { useComputed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { collectionOf, connection } from '../../database/database.ts';
import { indexesOf } from '../../database/index-lists.ts';
import { Bars } from '../../parts/bars.tsx';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { PanelFrame } from '../../parts/panel.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useLive } from '../../parts/use-live.ts';
import { FillShop } from '../../sources/fill-shop.tsx';
import { OpenOrders } from './open-orders.tsx';
import { type RelatedShop, relateShop } from './recipes/relate-shop.ts';
import relateSource from './recipes/relate-shop.ts?raw';
import sendSource from './recipes/send-order.ts?raw';
import openSource from './recipes/watch-open.ts?raw';
import { watchMonths, watchStates } from './recipes/watch-totals.ts';
import totalsSource from './recipes/watch-totals.ts?raw';
import './dashboard-panel.css';

/** Live totals of the shop, and its open orders. */
export function DashboardPanel() {
  const count = useComputed(() => collectionOf('orders').liveCount({}, { throttle: 100 }));
  const shop = useComputed(() => relateShop(connection(), indexesOf));
  const { data: orders, error } = useLive(count.value);
  return (
    <PanelFrame
      title="A dashboard that stays true."
      lead="Totals and joins are computed in the worker and kept up to date by differences. Send an order, here or in another tab: every figure follows."
    >
      <Problem text={error?.message} />
      {orders === 0 && (
        <section class="card dashboard-empty">
          <FillShop />
        </section>
      )}
      {orders !== undefined && orders > 0 && (
        <div class="dashboard">
          <Totals shop={shop.value} />
          <OpenOrders shop={shop.value} />
        </div>
      )}
      {orders !== undefined && <Code key={`${orders > 0}`} />}
    </PanelFrame>
  );
}

function Code() {
  return (
    <CodeSection>
      <CodeSample title="Relate the collections" source={relateSource} />
      <CodeSample title="Live totals" source={totalsSource} />
      <CodeSample title="Live orders with customers and products" source={openSource} />
      <CodeSample title="Send an order" source={sendSource} />
    </CodeSection>
  );
}

const months = new Intl.DateTimeFormat('en', { month: 'short', year: 'numeric', timeZone: 'UTC' });

function Totals({ shop }: { shop: RelatedShop }) {
  const states = useLive(useMemo(() => watchStates(shop), [shop]));
  const ofMonths = useLive(useMemo(() => watchMonths(shop), [shop]));
  return (
    <div class="dashboard-totals">
      <section class="card" aria-labelledby="states-title" data-part="states">
        <h2 id="states-title">Orders by status</h2>
        <Bars
          rows={4}
          bars={(states.data ?? []).map(({ _id, orders }) => ({ name: `${_id}`, value: orders }))}
        />
        <Problem text={states.error?.message} />
      </section>
      <section class="card" aria-labelledby="months-title" data-part="months">
        <h2 id="months-title">Orders by month</h2>
        <Bars
          rows={12}
          bars={(ofMonths.data ?? []).map(({ _id, orders }) => ({
            name: months.format(_id as Date),
            value: orders,
          }))}
        />
        <Problem text={ofMonths.error?.message} />
      </section>
    </div>
  );
}
