import type { RelatedShop } from './relate-shop.ts';

// Orders with their customers and products, joined in the engine as of one instant.
export const watchOpen = ({ orders }: RelatedShop) =>
  orders.live(
    { status: 'open' },
    {
      sort: { placed: 1 },
      limit: 8,
      include: { buyer: { select: ['name', 'address.city'] }, item: { select: ['name', 'stock'] } },
    },
  );
