import type { Stored } from 'cairndb';
import { useLiveQuery } from 'cairndb/react';
import type { FormEvent } from 'react';
import { orders, type Part, stock } from './database';

/** What is in the store: everybody takes from it, also without a network. */
export function Stock() {
  const { data: parts = [] } = useLiveQuery(stock, {}, { sort: { name: 1 } });
  return (
    <>
      <h2>Stock</h2>
      {parts.map((part) => (
        <PartRow key={part._id} part={part} />
      ))}
    </>
  );
}

function PartRow({ part: { _id, name, left, ordered } }: { part: Stored<Part> }) {
  // An operation, no value: two devices that take one each take two.
  const take = () => stock.patchOne({ _id, left: { $gt: 0 } }, { $inc: { left: -1 } });

  function order(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const count = Number(new FormData(event.currentTarget).get('count'));
    return orders.actions.order({ part: _id, count }).then(({ sent }) => {
      sent.catch(() => undefined); // the event `refused` tells, after a reload too
    });
  }

  return (
    <article aria-label={name}>
      <p>
        <strong>{name}</strong>: {left} left{ordered > 0 && `, ${ordered} ordered`}
      </p>
      <form className="row" onSubmit={order}>
        <button type="button" disabled={left === 0} onClick={take}>
          Take one
        </button>
        <input name="count" aria-label="Count" type="number" min="1" defaultValue="10" required />
        <button type="submit">Order</button>
      </form>
    </article>
  );
}
