import type { Connection } from 'cairndb';

// Reports unsaved changes, the time of the first one, and each save.
export function watch(
  db: Connection,
  changed: (unsaved: number, since: Date | undefined) => void,
  saved: (changes: number) => void,
) {
  const stops = [
    db.on('status', ({ unsaved, unsaved_since }) => changed(unsaved, unsaved_since)),
    db.on('save', ({ changes }) => saved(changes)),
  ];
  return () => stops.forEach((stop) => void stop());
}
