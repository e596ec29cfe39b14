import type { Connection, DocumentCollection } from 'cairndb';

const A_TASK = 2000;
const pause = () => new Promise((resume) => setTimeout(resume)); // the page stays free

// Imports the backup into a temporary collection and compares the
// documents.
export async function compare(db: Connection, now: DocumentCollection, backup: string) {
  const before = new db.Collection({
    name: `${now.name} as it was`,
    type: 'DOCUMENT_BASED',
    activate_drop_method: true,
  });
  try {
    await before.importBackup(await now.exportBackup(backup));
    const rest = new Map<string, string>();
    let seen = 0;
    for await (const document of before.each({}, { archived: true })) {
      rest.set(document._id, JSON.stringify(document));
      if (++seen % A_TASK === 0) await pause();
    }
    let [added, changed] = [0, 0];
    for await (const document of now.each({}, { archived: true })) {
      const old = rest.get(document._id);
      if (old === undefined) added += 1;
      else if (old !== JSON.stringify(document)) changed += 1;
      rest.delete(document._id);
      if (++seen % A_TASK === 0) await pause();
    }
    return { added, changed, removed: rest.size };
  } finally {
    await before.Drop();
  }
}
