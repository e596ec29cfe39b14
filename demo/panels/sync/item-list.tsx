import { useSignal } from '@preact/signals';
import type { Stored } from 'cairndb';
import { Icon } from '../../parts/icon.tsx';
import type { Device } from './device.ts';
import { attempt } from './devices.ts';
import { ItemField } from './item-field.tsx';
import { ItemPhoto } from './item-photo.tsx';
import { countOneMore } from './recipes/count-look-and-show.ts';
import type { Item } from './recipes/open-device.ts';
import '../../parts/field.css';
import './item-list.css';

const PLUS = 'M10 4.5v11M4.5 10h11';
const CROSS = 'M5.5 5.5l9 9M14.5 5.5l-9 9';

/** The items of a device, to edit in place. */
export function ItemList({ device }: { device: Device }) {
  const items = device.items.value;
  return (
    <>
      <ul class="item-list" aria-label={`Items on the ${device.title.toLowerCase()}`}>
        {items.map((item, place) => (
          <ItemRow key={item._id} device={device} item={item} place={place} />
        ))}
      </ul>
      <AddItem device={device} />
    </>
  );
}

interface ItemRowProps {
  readonly device: Device;
  readonly item: Stored<Item>;
  readonly place: number;
}

function ItemRow({ device, item, place }: ItemRowProps) {
  const { items } = device.client;
  const { _id: id, title, amount, note } = item;
  const set = (changes: Partial<Item>) => attempt(() => items.patch(id, changes));
  const of = `of ${title}, ${device.title}`;
  return (
    <li style={{ '--place': place }} data-item={title}>
      <ItemPhoto device={device} item={item} />
      <ItemField
        label={`Title ${of}`}
        value={title}
        onChange={(text) => text && set({ title: text })}
      />
      <ItemField
        label={`Amount ${of}`}
        isNumber
        value={amount}
        onChange={(text) => text && Number(text) >= 0 && set({ amount: Number(text) })}
      />
      <button
        type="button"
        class="item-button"
        aria-label={`One more ${title}, ${device.title}`}
        onClick={() => attempt(() => countOneMore(device.client, id))}
      >
        <Icon path={PLUS} />
      </button>
      <ItemField
        label={`Note ${of}`}
        value={note}
        placeholder="Note"
        onChange={(text) => set({ note: text })}
      />
      <button
        type="button"
        class="item-button"
        aria-label={`Delete ${title}, ${device.title}`}
        onClick={() => attempt(() => items.delete(id))}
      >
        <Icon path={CROSS} />
      </button>
    </li>
  );
}

function AddItem({ device }: { device: Device }) {
  const title = useSignal('');
  return (
    <form
      class="item-add"
      onSubmit={(event) => {
        event.preventDefault();
        const item: Item = { title: title.peek().trim(), amount: 1, note: '', shop: 'Market' };
        title.value = '';
        if (item.title) attempt(() => device.client.items.insert(item));
      }}
    >
      <input
        class="field"
        aria-label={`New item, ${device.title}`}
        placeholder="New item"
        maxLength={60}
        autocomplete="off"
        value={title.value}
        onInput={({ currentTarget }) => {
          title.value = currentTarget.value;
        }}
      />
      <button type="submit" class="button">
        Add
      </button>
    </form>
  );
}
