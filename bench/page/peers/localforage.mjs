import { definePeer } from '../peer.mjs';

export const localforage = definePeer({
  name: 'localforage',
  title: 'localForage',
  packages: ['localforage'],
  kind: 'database',
  keeps: true,
  resident: false,
  runs: 'page',
  key: 'id',
  resolved: 'transaction complete',
  usage:
    'a key-value store: one setItem a document, all issued at once; it has no indexes, so every query iterates',
  async load() {
    const { default: library } = await import('localforage');
    return {
      async open(name) {
        const people = library.createInstance({ name, driver: library.INDEXEDDB });
        await people.ready();
        /** @param {(document: any) => boolean} matches */
        async function findAll(matches) {
          /** @type {any[]} */
          const found = [];
          await people.iterate((document) => {
            if (matches(document)) found.push(document);
          });
          return found;
        }
        return {
          insertMany: (documents) =>
            Promise.all(documents.map((document) => people.setItem(document.id, document))),
          insert: (document) => people.setItem(document.id, document),
          get: (id) => people.getItem(id),
          findGroup: (group) => findAll((document) => document.group === group),
          findAges: (from, to) => findAll(({ age }) => age >= from && age < to),
          findZips: (from, to) => findAll(({ address }) => address.zip >= from && address.zip < to),
          async firstByScore(limit) {
            const documents = await findAll(() => true);
            return documents.sort((a, b) => a.score - b.score).slice(0, limit);
          },
          async countAges(from, to) {
            let count = 0;
            await people.iterate((/** @type {any} */ { age }) => {
              if (age >= from && age < to) count++;
            });
            return count;
          },
          setAges: (ids, age) =>
            Promise.all(
              ids.map(async (id) => {
                const document = /** @type {object} */ (await people.getItem(id));
                await people.setItem(id, { ...document, age });
              }),
            ),
          deleteMany: (ids) => Promise.all(ids.map((id) => people.removeItem(id))),
          all: () => findAll(() => true),
          close() {}, // localForage keeps its connections until the page ends
        };
      },
    };
  },
});
