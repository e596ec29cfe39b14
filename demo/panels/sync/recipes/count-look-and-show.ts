import type { OpenDevice } from './open-device.ts';

// An operation, no value: devices that count at the same time are all counted.
export async function countOneMore({ items }: OpenDevice, id: string) {
  await items.patch(id, { $inc: { amount: 1 } });
}

// What a device looks at is there. What no scope has any more leaves it, and stays on the server.
export async function lookAtBakery({ sync }: OpenDevice, isWanted: boolean) {
  if (isWanted) await sync.scopes.add({ shop: 'Bakery' });
  else await sync.scopes.remove({ shop: 'Bakery' });
}

// A photo is a field like any other. It travels beside its item, and comes when it is shown.
export async function addPhoto({ items }: OpenDevice, id: string, photo: Blob) {
  await items.patch(id, { photo });
}

export async function photoUrl({ sync }: OpenDevice, id: string) {
  const photo = await sync.file(id, 'photo');
  return photo && URL.createObjectURL(photo); // revoke it later
}
