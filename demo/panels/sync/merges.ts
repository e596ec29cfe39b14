import { signal } from '@preact/signals';
import type { Conflict } from 'cairndb/replication';
import { announce } from '../../app/announcer.tsx';
import type { Device } from './device.ts';
import type { Item } from './recipes/open-device.ts';

/** A field, or a whole item, that a device and the server had changed meanwhile. */
export interface Merge {
  readonly id: string;
  readonly at: Date;
  /** The device that merged. */
  readonly device: Device;
  readonly conflict: Conflict<Item>;
  readonly title: string;
  /** `undefined`: one side deleted the item. */
  readonly field: keyof Item | undefined;
  /** Whether both sides changed it, to different values. */
  readonly isConflict: boolean;
}

const FIELDS = ['title', 'amount', 'note'] as const;
const KEPT = 30;

/** Newest first. */
export const merges = signal<readonly Merge[]>([]);

/** Lists each field that was merged. @returns a line for the device's log. */
export function noteConflict(device: Device, conflict: Conflict<Item>): string {
  const { id, base, local, remote } = conflict;
  const title = (local ?? remote ?? base)?.title ?? id;
  const make = (field: keyof Item | undefined, isConflict: boolean): Merge => ({
    id: crypto.randomUUID(),
    ...{ at: conflict.at, device, conflict, title, field, isConflict },
  });
  const made =
    local && remote
      ? FIELDS.filter((field) => local[field] !== remote[field]).map((field) =>
          make(field, base?.[field] !== local[field] && base?.[field] !== remote[field]),
        )
      : [make(undefined, true)];
  merges.value = [...made, ...merges.peek()].slice(0, KEPT);
  const text = `${made.some(({ isConflict }) => isConflict) ? 'Conflict in' : 'Merged'} ${title}`;
  announce(`${device.title}: ${text}.`);
  return text;
}

/** The value of a side, as text. */
export function sideText({ conflict, field }: Merge, side: 'local' | 'remote'): string {
  const state = conflict[side];
  if (!state) return 'deleted';
  if (!field) return 'kept';
  return String(state[field]) || 'empty';
}

/** The side whose value the device has now; `undefined` for another value. */
export function presentSide({ device, conflict, field }: Merge): 'local' | 'remote' | undefined {
  const item = device.items.value.find(({ _id }) => _id === conflict.id);
  const { local, remote } = conflict;
  if (!field) return Boolean(item) === Boolean(remote) ? 'remote' : 'local';
  if (item?.[field] === remote?.[field]) return 'remote';
  return item?.[field] === local?.[field] ? 'local' : undefined;
}
