import { signal } from '@preact/signals';
import { cities } from '../../database/database.ts';

/** Milliseconds from page start until the cities were counted. */
export const openedIn = signal<number | undefined>(undefined);

cities()
  .count()
  .then(
    () => {
      openedIn.value = performance.now();
    },
    () => undefined, // the live count shows the error
  );
