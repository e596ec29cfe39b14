import { signal } from '@preact/signals';
import type { Stored } from 'cairndb';
import type { City } from '../../database/city.ts';
import { cities } from '../../database/database.ts';
import { messageOf } from '../../parts/message-of.ts';
import { boxAround, type Place } from './projection.ts';
import { type Box, findAround } from './recipes/find-around.ts';

/** The result of the query under the lens. */
export interface Sight {
  readonly count: number;
  readonly largest: readonly Stored<City>[];
  /** Milliseconds from the call to the answer. */
  readonly ms: number;
}

/** The area of the lens. */
export const lens = signal<Box>(boxAround({ latitude: 47, longitude: 8 }));

export const sight = signal<Sight | undefined>(undefined);

export const lensProblem = signal('');

let isLooking = false;
let isStale = false;

export function moveLens(place: Place): void {
  lens.value = boxAround(place);
  look();
}

/**
 * Queries the area of the lens. While a query runs, only the newest area is kept for the next one.
 */
export async function look(): Promise<void> {
  isStale = true;
  if (isLooking) return;
  isLooking = true;
  try {
    while (isStale) {
      isStale = false;
      const began = performance.now();
      const [count, largest] = await findAround(cities(), lens.value);
      sight.value = { count, largest, ms: performance.now() - began };
      lensProblem.value = '';
    }
  } catch (error) {
    lensProblem.value = messageOf(error);
  } finally {
    isLooking = false;
  }
}
