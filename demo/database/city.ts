/** A city as the page inserts it. */
export interface City {
  name: string;
  /** Its name in English. */
  country: string;
  /** The administrative division inside the country, by its code. */
  region: string;
  /** A feature code of geonames.org, such as PPLC for a capital. */
  kind: string;
  population: number;
  location: { latitude: number; longitude: number };
}
