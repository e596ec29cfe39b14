import type { Connection } from 'cairndb';

export interface Stone {
  /** Which tab laid it. */
  by: string;
  laid: Date;
}

export function openBoard(db: Connection) {
  const notes = new db.Collection({ name: 'notes', type: 'KEY_VALUE_BASED' });
  const stones = new db.Collection<Stone>({ name: 'stones', type: 'DOCUMENT_BASED' });
  return {
    // Any tab writes …
    write: (note: string, text: string) => notes.set(note, text),
    lay: (by: string) => stones.insert({ by, laid: new Date() }),
    countLaid: (by: string) => stones.count({ by }),
    // … and all tabs see it.
    note: (note: string) => notes.live(note),
    heap: stones.live({}, { sort: { laid: -1 }, limit: 24 }),
    size: stones.liveCount(),
  };
}
