import type { DocumentCollection } from 'cairndb';

// Resolves when the changes are acknowledged: every query sees them, and a save is
// scheduled. A page that ends before the save leaves them to the next page.
export const write = (notes: DocumentCollection, run: string, count: number) =>
  notes.insertMany(Array.from({ length: count }, (_, number) => ({ run, number })));

// Resolves when the changes are saved: they survive a crash of the browser.
export const writeAndWait = async (notes: DocumentCollection, run: string, count: number) => {
  await write(notes, run, count);
  await notes.save();
};
