import type { Conflict } from 'cairndb/replication';
import type { Item, OpenDevice } from './open-device.ts';

type Side = 'local' | 'remote';

// A decision by hand is a change like any other: it reaches the server, and from there all devices.
export async function decide({ items }: OpenDevice, conflict: Conflict<Item>, side: Side) {
  const chosen = conflict[side];
  if (chosen) await items.upsert({ ...chosen, _id: conflict.id });
  else await items.delete(conflict.id); // that side had deleted it
}

// The same for one field. The other fields stay merged.
export async function decideField(
  { items }: OpenDevice,
  conflict: Conflict<Item>,
  side: Side,
  field: keyof Item,
) {
  await items.patch(conflict.id, { [field]: conflict[side]?.[field] });
}
