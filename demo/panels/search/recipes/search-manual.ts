import type { DocumentCollection } from 'cairndb';
import type { Section } from './open-manual.ts';

// As you type: the last word may be unfinished, and words may have typing errors.
export const searchManual = (manual: DocumentCollection<Section>, typed: string) =>
  manual.liveSearch(typed, { limit: 8, fuzzy: true, highlight: true });
