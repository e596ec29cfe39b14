import type { CollectionUsage } from 'cairndb';
import { tables } from '../../database/own-tables.ts';
import { TABLES } from '../../database/tables.ts';
import { formatBytes, formatClock } from '../../parts/format.ts';
import './collection-sizes.css';

/** Collections that are no tables. */
const OTHERS: Readonly<Record<string, string>> = {
  notes: 'Notes',
  library: 'Library',
  manual: 'Docs',
};

/** Bytes of each collection and its backups, and how long it stays cached. */
export function CollectionSizes({ collections }: { collections: readonly CollectionUsage[] }) {
  const largest = Math.max(...collections.map((each) => each.bytes + each.backup_bytes), 1);
  const share = (bytes: number) => `${(bytes / largest) * 100}%`;
  const stored = new Map(collections.map((each) => [each.collection, each]));
  // The playground's collections have rows before their sizes are known.
  const names = new Set([
    ...TABLES.map(({ name }) => name),
    ...Object.keys(OTHERS),
    ...stored.keys(),
  ]);
  return (
    <table class="collection-sizes">
      <thead>
        <tr>
          <th scope="col">Collection</th>
          <th scope="col">Stored</th>
          <th scope="col">Cached</th>
        </tr>
      </thead>
      <tbody>
        {[...names].map((name) => {
          const { bytes = 0, backup_bytes = 0, cached_until } = stored.get(name) ?? {};
          return (
            <tr key={name} data-part={`size-${name}`}>
              <th scope="row">{titleOf(name)}</th>
              <td>
                <span class="figures" key={`${bytes} ${backup_bytes}`}>
                  {bytes > 0 ? formatBytes(bytes) : '–'}
                  {backup_bytes > 0 && (
                    <span class="soft"> and {formatBytes(backup_bytes)} for backups</span>
                  )}
                </span>
                <span class="size-bar" aria-hidden="true">
                  <span style={{ width: share(bytes), minWidth: bytes > 0 ? 2 : 0 }} />
                  <span style={{ width: share(backup_bytes) }} />
                </span>
              </td>
              <td class="figures">{memoryText(cached_until)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

const titleOf = (collection: string): string =>
  tables.value.find(({ name }) => name === collection)?.title ?? OTHERS[collection] ?? collection;

function memoryText(until: CollectionUsage['cached_until']): string {
  if (until === undefined) return 'no';
  return until === 'never' ? 'always' : `until ${formatClock(until)}`;
}
