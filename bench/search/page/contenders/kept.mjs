import { openDB } from 'idb';

/** Where an index in memory is kept between visits. @param {string} name */
export async function openKept(name) {
  const database = await openDB(name, 1, {
    upgrade: (opened) => void opened.createObjectStore('kept'),
  });
  return {
    /** @returns {Promise<any>} */
    read: () => database.get('kept', 'index'),
    write: async (/** @type {unknown} */ value) => {
      await database.put('kept', value, 'index');
    },
    close: () => database.close(),
  };
}
