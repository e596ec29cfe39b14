import type { DocumentCollection } from 'cairndb';

// Resolves when the engine has taken the changes: from now on every query sees them,
// and a save is on its way. A page that ends before it leaves them to the next page.
export const write = (notes: DocumentCollection, run: string, count: number) =>
  notes.insertMany(Array.from({ length: count }, (_, number) => ({ run, number })));

// Resolves when they are in storage, whatever happens to the browser.
export const writeAndWait = async (notes: DocumentCollection, run: string, count: number) => {
  await write(notes, run, count);
  await notes.save();
};
