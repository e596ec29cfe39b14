import { signal } from '@preact/signals';
import type { Stored } from 'cairndb';
import { useMemo } from 'preact/hooks';
import { formatDay } from '../../parts/format.ts';
import { messageOf } from '../../parts/message-of.ts';
import { Problem } from '../../parts/problem.tsx';
import { useLive } from '../../parts/use-live.ts';
import type { RelatedShop, Sale } from './recipes/relate-shop.ts';
import { sendOrder } from './recipes/send-order.ts';
import { watchOpen } from './recipes/watch-open.ts';

const problem = signal('');

/** The oldest open orders, each with its customer and its product. */
export function OpenOrders({ shop }: { shop: RelatedShop }) {
  const { data = [], error } = useLive(useMemo(() => watchOpen(shop), [shop]));
  return (
    <section class="card" aria-labelledby="open-title" data-part="open-orders">
      <h2 id="open-title">Next to send</h2>
      <ul class="open-orders">
        {data.map((order, place) => (
          <li key={place}>
            <p key={order._id}>
              <strong class="figures">{order.number}</strong> {order.buyer?.name ?? 'unknown'},{' '}
              {order.buyer?.address.city}
              <br />
              <span class="soft small">
                {order.quantity} × {order.item?.name ?? 'unknown'}, {order.item?.stock} in stock,{' '}
                {formatDay(order.placed).replaceAll(' ', '\u00a0')}
              </span>
            </p>
            <button
              type="button"
              class="button compact"
              aria-label={`Send order ${order.number}`}
              onClick={() => send(shop, order)}
            >
              Send
            </button>
          </li>
        ))}
      </ul>
      <Problem text={error?.message ?? problem.value} />
    </section>
  );
}

async function send(shop: RelatedShop, order: Stored<Sale>): Promise<void> {
  try {
    await sendOrder(shop, order);
    problem.value = '';
  } catch (error) {
    problem.value = messageOf(error);
  }
}
