import type { Connection, DocumentCollection } from 'cairndb';

/** A section of a page of the docs. */
export interface Section {
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

// The words of all sections, headings before texts.
export const openManual = (db: Connection): DocumentCollection<Section> =>
  new db.Collection<Section>({
    name: 'manual',
    type: 'DOCUMENT_BASED',
    indexes: [{ text: { page: 2, heading: 3, text: 1 } }],
  });
