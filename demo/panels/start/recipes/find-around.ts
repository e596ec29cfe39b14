import type { DocumentCollection } from 'cairndb';
import type { City } from '../../../database/city.ts';

export interface Box {
  north: number;
  south: number;
  west: number;
  east: number;
}

// Both calls travel to the worker in one message, both results back in one.
export function findAround(cities: DocumentCollection<City>, { north, south, west, east }: Box) {
  const inside = {
    'location.latitude': { $gte: south, $lte: north },
    'location.longitude': { $gte: west, $lte: east },
  };
  return Promise.all([
    cities.count(inside),
    cities.filter(inside, { sort: { population: -1 }, limit: 5 }),
  ]);
}
