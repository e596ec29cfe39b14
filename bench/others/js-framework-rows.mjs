/**
 * Adds react-cairn and vue-cairn to a checkout of js-framework-benchmark, beside react-hooks and
 * vue, whose rendering they keep: rows are documents, and a live query takes the place of state.
 *
 *     node ../cairndb/bench/others/js-framework-rows.mjs    # in the checkout
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';

const OPENED = `
const db = connect({ name: 'rows' });
const collection = new db.Collection({
  name: 'rows',
  type: 'DOCUMENT_BASED',
  shared_documents: true,
  indexes: ['place'],
});

const documents = (count) =>
  buildData(count).map(({ id, label }) => ({ _id: String(id), id, label, place: id }));

const replaceAll = (count) =>
  db.transaction(async (tx) => {
    await tx(collection).deleteMany({});
    if (count > 0) await tx(collection).insertMany(documents(count));
  });

const append = () => collection.insertMany(documents(1000));
const removeRow = (id) => collection.delete(String(id));

const updateTenth = (rows) =>
  collection.upsertMany(
    rows.filter((_, at) => at % 10 === 0).map((row) => ({ ...row, label: row.label + ' !!!' })),
  );

const swap = (rows) =>
  rows.length > 998 &&
  db.transaction(async (tx) => {
    await tx(collection).patch(rows[1]._id, { place: rows[998].place });
    await tx(collection).patch(rows[998]._id, { place: rows[1].place });
  });
`;

const REACT = `${OPENED}
const calls = {
  RUN: () => replaceAll(1000),
  RUN_LOTS: () => replaceAll(10000),
  ADD: append,
  UPDATE: updateTenth,
  CLEAR: () => replaceAll(0),
  SWAP_ROWS: swap,
  REMOVE: (_, id) => removeRow(id),
};
let shown = [];

`;

const REACT_MAIN = `const Main = () => {
  const [selected, select] = useState(0);
  const { data = [] } = useLiveQuery(collection, {}, { sort: { place: 1 } });
  shown = data;
  const [dispatch] = useState(() => ({ type, id }) => {
    if (type === 'SELECT') return select(id);
    if (/^RUN|CLEAR/.test(type)) select(0);
    void calls[type](shown, id);
  });
`;

const VUE = `import { ref } from 'vue';
import { connect } from 'cairndb';
import { useLiveQuery } from 'cairndb/vue';
import { buildData } from './data';
${OPENED}
const selected = ref();
const { data: rows } = useLiveQuery(collection, {}, { sort: { place: 1 } });
const replace = (count) => {
  selected.value = undefined;
  return replaceAll(count);
};
const run = () => replace(1000);
const runLots = () => replace(10000);
const clear = () => replace(0);
const add = append;
const remove = removeRow;
const select = (id) => (selected.value = id);
const update = () => updateTenth(rows.value);
const swapRows = () => swap(rows.value);
`;

/**
 * Copies an implementation, and puts texts in place of what stands between two marks.
 *
 * @param {string} from
 * @param {string} name
 * @param {string} file
 * @param {[from: string, to: string, text: string][]} edits
 */
function add(from, name, file, edits) {
  const folder = `frameworks/keyed/${name}`;
  cpSync(`frameworks/keyed/${from}`, folder, { recursive: true });
  let code = readFileSync(`${folder}/${file}`, 'utf8');
  for (const [begin, end, text] of edits) {
    const at = code.indexOf(begin);
    const until = code.indexOf(end, at + begin.length);
    if (at < 0 || until < 0) throw new Error(`${from}/${file} has no "${begin}" before "${end}".`);
    code = code.slice(0, at) + text + code.slice(until);
  }
  writeFileSync(`${folder}/${file}`, code);
}

add('react-hooks', 'react-cairn', 'src/main.jsx', [
  [
    'import {',
    'import { createRoot',
    "import { memo, useState } from 'react';\nimport { connect } from 'cairndb';\nimport { useLiveQuery } from 'cairndb/react';\n",
  ],
  ['const initialState', 'const Row', REACT],
  ['const Main', '\n  return (', REACT_MAIN],
]);
add('vue', 'vue-cairn', 'src/App.vue', [['import {', '</script>', VUE]]);
const vite = 'frameworks/keyed/vue-cairn/vite.config.js';
writeFileSync(vite, readFileSync(vite, 'utf8').replace('/vue/', '/vue-cairn/'));
