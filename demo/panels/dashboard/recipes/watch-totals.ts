import type { RelatedShop } from './relate-shop.ts';

// The engine keeps the groups up to date: a change costs what it touches.
export const watchStates = ({ orders }: RelatedShop) =>
  orders.liveAggregate([
    { $group: { _id: '$status', orders: { $count: {} }, pieces: { $sum: '$quantity' } } },
    { $sort: { _id: 1 } },
  ]);

export const watchMonths = ({ orders }: RelatedShop) =>
  orders.liveAggregate([
    {
      $group: {
        _id: { $dateTrunc: { date: '$placed', unit: 'month' } },
        orders: { $count: {} },
      },
    },
    { $sort: { _id: -1 } },
    { $limit: 12 },
  ]);
