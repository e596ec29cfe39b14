import { useSignal } from '@preact/signals';
import type { Stored } from 'cairndb';
import { useEffect } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import type { Device } from './device.ts';
import { attempt } from './devices.ts';
import { addPhoto, photoUrl } from './recipes/count-look-and-show.ts';
import type { Item } from './recipes/open-device.ts';
import './item-photo.css';

const CAMERA = 'M3 6.5h3l1.5-2h5l1.5 2h3v9.5H3zM7.2 11a2.8 2.8 0 1 0 5.6 0a2.8 2.8 0 1 0-5.6 0';

interface ItemPhotoProps {
  readonly device: Device;
  readonly item: Stored<Item>;
}

/** The photo of an item; a press takes or chooses another one. */
export function ItemPhoto({ device, item }: ItemPhotoProps) {
  const { _id: id, title, photo } = item;
  const { client, isOnline } = device;
  const url = useSignal<string | undefined>(undefined);

  // A photo that was not here offline is loaded once the device is online.
  useEffect(() => {
    if (!photo) return;
    let made: string | undefined;
    let isLeft = false;
    photoUrl(client, id).then(
      (loaded) => {
        made = loaded;
        if (isLeft) revoke();
        else url.value = made;
      },
      () => undefined, // the camera stays
    );
    const revoke = () => made && URL.revokeObjectURL(made);
    return () => {
      isLeft = true;
      revoke();
    };
  }, [client, id, photo, isOnline.value]);

  return (
    <label class="item-photo">
      {photo && url.value ? (
        <img src={url.value} alt={`${title}, photographed`} />
      ) : (
        <Icon path={CAMERA} />
      )}
      <input
        type="file"
        accept="image/*"
        aria-label={`Photo of ${title}, ${device.title}`}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) attempt(() => addPhoto(client, id, file));
        }}
      />
    </label>
  );
}
