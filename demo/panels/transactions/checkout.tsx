import { formatNumber } from '../../parts/format.ts';
import { Problem } from '../../parts/problem.tsx';
import { ordering, orderOne, RUSH } from './ordering.ts';
import { ME, shopProblem, sight } from './shop.ts';
import '../../parts/status-text.css';
import './checkout.css';

interface CheckoutProps {
  readonly title: string;
  readonly text: string;
}

/** Places orders in this page, and shows how often each had to run. */
export function Checkout({ title, text }: CheckoutProps) {
  const { orders = [] } = sight.value ?? {};
  const own = orders.filter(({ by }) => by === ME);
  const retries = own.reduce((sum, { runs }) => sum + runs - 1, 0);
  const shown = own.slice(0, RUSH).toReversed();
  return (
    <section class="card checkout" aria-labelledby="checkout-title">
      <h2 id="checkout-title">{title}</h2>
      <p class="soft small">{text}</p>
      <div class="checkout-foot">
        <button type="button" class="button" onClick={orderOne}>
          Place order
        </button>
        <p class="checkout-count small figures">
          <strong data-part="own-orders">{formatNumber(own.length)}</strong>
          <span> orders</span>
          <strong data-part="own-retries">{formatNumber(retries)}</strong>
          <span> retries</span>
        </p>
      </div>
      <div class="checkout-runs">
        <p class="soft small" id="runs-title">
          Runs of each order
        </p>
        <ol class="small figures" aria-labelledby="runs-title">
          {/* Keyed by position: a new order is no layout shift. */}
          {Array.from({ length: RUSH }, (_, place) => shown[place]).map((order, place) => (
            <li key={place} data-retried={order && order.runs > 1} aria-hidden={!order}>
              {order && (
                <>
                  <span class="hidden">{order.product}: </span>
                  {order.runs}
                </>
              )}
            </li>
          ))}
        </ol>
      </div>
      {/* No `role="status"`: it changes with every run, and only the result is announced. */}
      <div class="status-text small">
        <p class="soft figures" data-part="ordering">
          {shopProblem.value ? '' : ordering.value}
        </p>
        <Problem text={shopProblem.value} />
      </div>
    </section>
  );
}
