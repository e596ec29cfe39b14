import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { memoryDriver } from 'cairndb';
import { closeTestDatabases, FakeClock, storageDriverSuite, testDatabase } from 'cairndb/testing';
import { openOrders, placeOrder } from './app/orders.js';

afterEach(closeTestDatabases);

test('places an order', async () => {
  const orders = openOrders(testDatabase());
  assert.equal(await placeOrder(orders, 'lamp'), 'saved');
  assert.equal(await orders.count({ done: false }), 1);
});

test('makes a backup each day, and keeps it for three', async () => {
  const clock = new FakeClock();
  const db = testDatabase({ clock });
  const days = new db.Collection({
    name: 'days',
    type: 'DOCUMENT_BASED',
    auto_create_backup: true,
    backup_retention_time: 3,
  });
  for (let day = 1; day <= 7; day++) {
    await days.insert({ day });
    await clock.advance(24 * 60 * 60 * 1000);
  }
  assert.equal((await days.listBackups()).length, 3);
});

storageDriverSuite(memoryDriver(), { describe, test });
