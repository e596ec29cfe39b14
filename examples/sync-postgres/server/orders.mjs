import { userOf } from './rights.mjs';

/** What the supplier delivers of a part. */
const MOST = 50;

export const setUpOrders = (query) =>
  query(`create table if not exists orders (
    key text primary key, technician text not null, part text not null, count int not null
  )`);

/** Takes an order once, however often its call arrives: each attempt has the same key. */
export async function takeOrder(query, request) {
  const user = userOf(request);
  const key = request.headers.get('idempotency-key');
  if (!user) return new Response('Log in.', { status: 401 }); // the outbox tries again
  const { part, count } = await request.json().catch(() => ({}));
  if (!key || typeof part !== 'string' || !(Number.isInteger(count) && count > 0))
    return new Response('This is no order.', { status: 400 });
  if (count > MOST) return new Response(`The supplier delivers at most ${MOST}.`, { status: 422 }); // undone
  await query(`insert into orders values ($1, $2, $3, $4) on conflict do nothing`, [
    ...[key, user.name, part, count],
  ]);
  const { rows } = await query('select sum(count)::int as ordered from orders where part = $1', [
    part,
  ]);
  return Response.json(rows[0], { status: 201 });
}
