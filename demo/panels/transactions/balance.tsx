import { Figure, Figures } from '../../parts/figure.tsx';
import { formatCount, formatNumber } from '../../parts/format.ts';
import { FULL_STOCK, sight } from './shop.ts';

/** Stock and orders, whose sum stays the same, and the retries. */
export function Balance() {
  const { products, orders } = sight.value ?? {};
  const stock = products?.reduce((sum, product) => sum + product.stock, 0);
  const ordered = orders?.length;
  const sum = stock === undefined || ordered === undefined ? undefined : stock + ordered;
  const retries = orders?.reduce((sum, { runs }) => sum + runs - 1, 0);
  return (
    <Figures label="Stock and orders">
      <Figure label="In stock" value={shown(stock)} note="of all products" part="stock" />
      <Figure label="+ ordered" value={shown(ordered)} note="in all pages" part="ordered" />
      <Figure
        label={`= must be ${FULL_STOCK}`}
        value={shown(sum)}
        note={sum === undefined ? '' : verdict(sum - FULL_STOCK)}
        tone={sum === undefined ? undefined : sum === FULL_STOCK ? 'good' : 'bad'}
        part="sum"
      />
      <Figure
        label="Retries"
        value={shown(retries)}
        note="runs repeated after a conflict"
        part="retries"
      />
    </Figures>
  );
}

const shown = (count: number | undefined) =>
  count === undefined ? undefined : formatNumber(count);

function verdict(excess: number): string {
  if (excess === 0) return 'stock and orders agree';
  if (excess < 0) return `${formatNumber(-excess)} taken without an order`;
  return `${formatCount(excess, 'update')} of the stock lost`;
}
