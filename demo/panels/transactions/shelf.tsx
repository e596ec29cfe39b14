import { formatNumber } from '../../parts/format.ts';
import { FULL, PRODUCT_IDS, sight } from './shop.ts';
import './shelf.css';

/** Each product: a bar of its stock and its orders. What exceeds the full stock never existed. */
export function Shelf() {
  const { products, orders } = sight.value ?? {};
  const rows = PRODUCT_IDS.map((id) => {
    const product = products?.find(({ _id }) => _id === id);
    const ordered = orders?.filter((order) => order.product === product?.name).length ?? 0;
    return { id, name: product?.name, stock: product?.stock ?? 0, ordered };
  });
  const scale = Math.max(FULL, ...rows.map(({ stock, ordered }) => stock + ordered));
  const share = (count: number) => `${(count / scale) * 100}%`;
  return (
    <ul class="shelf">
      {rows.map(({ id, name, stock, ordered }) => (
        <li key={id} data-excess={stock + ordered > FULL}>
          <strong>{name ?? '–'}</strong>
          <p class="shelf-sum small figures">
            <span>{formatNumber(stock)}</span> in stock + <span>{formatNumber(ordered)}</span>{' '}
            ordered = <span data-part={`sum-${id}`}>{formatNumber(stock + ordered)}</span>
          </p>
          <div
            class="shelf-bar"
            aria-hidden="true"
            style={{
              '--stock': share(stock),
              '--sum': share(stock + ordered),
              '--full': share(FULL),
            }}
          />
        </li>
      ))}
    </ul>
  );
}
