import { connect } from 'cairndb';

const db = connect({ name: 'shop' });
const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });

const form = document.querySelector('form');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  await orders.insert({ item: new FormData(form).get('item') });
  form.reset();
});

orders.live({}).subscribe(({ data = [] }) => {
  document.querySelector('ul').replaceChildren(...data.map(listItem));
});

function listItem({ item }) {
  return Object.assign(document.createElement('li'), { textContent: item });
}

globalThis.db = db; // for the tests
