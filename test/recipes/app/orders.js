/** The orders of a shop, in whichever database it is given. */
export function openOrders(db) {
  return new db.Collection({
    name: 'orders',
    type: 'DOCUMENT_BASED',
    indicate_created_at: true,
    save_timeout: 5,
  });
}

/** Places an order; says whether it is saved. */
export async function placeOrder(orders, item) {
  await orders.insert({ item, done: false });
  try {
    await orders.save();
    return 'saved';
  } catch (error) {
    if (error.code !== 'storage_full') throw error;
    return 'The disk is full. Your order is kept, and saved later.';
  }
}
