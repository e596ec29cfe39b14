import type { Connection, DocumentCollection } from 'cairndb';
import type { City } from '../../../database/city.ts';

// Of a collection that has its documents: the index is built in slices, and stays.
export const openCities = (db: Connection): DocumentCollection<City> =>
  new db.Collection<City>({
    name: 'cities',
    type: 'DOCUMENT_BASED',
    caching: true,
    activate_drop_method: true,
    indexes: [{ text: { name: 2, country: 1 } }, 'population'],
  });

export const searchCities = (cities: DocumentCollection<City>, typed: string) =>
  cities.liveSearch(typed, { limit: 8, fuzzy: true, highlight: true });
