/**
 * @param {import('../../../src/index.ts').DatabaseClient} database @returns
 *   {import('./people.mjs').App}
 */
export function cairnApp(database) {
  const people = new database.Collection({
    name: 'people',
    type: 'DOCUMENT_BASED',
    indexes: ['group'],
  });
  return {
    async fill(documents) {
      await people.insertMany(documents.map(({ id, ...rest }) => ({ _id: id, ...rest })));
      await database.close(); // with what the next opening is faster by
      location.search = '';
      await new Promise(() => undefined);
    },
    findGroup: (group) => people.filter({ group }),
  };
}
