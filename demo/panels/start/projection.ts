import type { Box } from './recipes/find-around.ts';

/** The mapped area; there are no cities further north or south. */
const WORLD: Box = { north: 79, south: -56, west: -180, east: 180 };

/** Aspect ratio of the map, one degree being square. */
export const RATIO = (WORLD.east - WORLD.west) / (WORLD.north - WORLD.south);

export interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** From 0 at the western edge to 1 at the eastern. */
export const across = (longitude: number): number =>
  (longitude - WORLD.west) / (WORLD.east - WORLD.west);

/** From 0 at the top to 1 at the bottom. */
export const down = (latitude: number): number =>
  (WORLD.north - latitude) / (WORLD.north - WORLD.south);

/** The place at a point, given as fractions of width and height. */
export const placeAt = (x: number, y: number): Place => ({
  latitude: WORLD.north - y * (WORLD.north - WORLD.south),
  longitude: WORLD.west + x * (WORLD.east - WORLD.west),
});

const HALF = { latitude: 7, longitude: 11 };

/** The box around a place, kept inside of the map. */
export function boxAround({ latitude, longitude }: Place): Box {
  const { latitude: high, longitude: wide } = HALF;
  const lat = Math.min(Math.max(latitude, WORLD.south + high), WORLD.north - high);
  const lon = Math.min(Math.max(longitude, WORLD.west + wide), WORLD.east - wide);
  return { north: lat + high, south: lat - high, west: lon - wide, east: lon + wide };
}
