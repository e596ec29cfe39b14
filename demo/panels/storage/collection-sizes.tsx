import type { CollectionUsage } from 'cairndb';
import { tables } from '../../database/own-tables.ts';
import { formatBytes, formatClock } from '../../parts/format.ts';
import './collection-sizes.css';

/** What each collection holds, itself and for its backups, and how long it stays in memory. */
export function CollectionSizes({ collections }: { collections: readonly CollectionUsage[] }) {
  const largest = Math.max(...collections.map((each) => each.bytes + each.backup_bytes), 1);
  const share = (bytes: number) => `${(bytes / largest) * 100}%`;
  return (
    <table class="collection-sizes">
      <thead>
        <tr>
          <th scope="col">Collection</th>
          <th scope="col">Stored</th>
          <th scope="col">In memory</th>
        </tr>
      </thead>
      <tbody>
        {collections.map(({ collection, bytes, backup_bytes, cached_until }) => (
          <tr key={collection} data-part={`size-${collection}`}>
            <th scope="row">{titleOf(collection)}</th>
            <td>
              <span class="figures">
                {formatBytes(bytes)}
                {backup_bytes > 0 && (
                  <span class="soft"> and {formatBytes(backup_bytes)} for backups alone</span>
                )}
              </span>
              <span class="size-bar" aria-hidden="true">
                <span style={{ width: share(bytes) }} />
                <span style={{ width: share(backup_bytes) }} />
              </span>
            </td>
            <td class="figures">{memoryText(cached_until)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const titleOf = (collection: string): string =>
  tables.value.find(({ name }) => name === collection)?.title ?? collection;

function memoryText(until: CollectionUsage['cached_until']): string {
  if (until === undefined) return 'no';
  return until === 'never' ? 'for good' : `until ${formatClock(until)}`;
}
