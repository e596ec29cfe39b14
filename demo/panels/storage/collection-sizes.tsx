import { lastUse } from '../../database/database.ts';
import { formatBytes, formatClock, formatCount } from '../../parts/format.ts';
import type { Content } from './usage.ts';
import './collection-sizes.css';

/** The default of `cache_retention_time`, in milliseconds. */
const RETENTION_MS = 10 * 60_000;

const UNKNOWN = { documents: 0, bytes: 0 };

/** What each collection holds, and how long it stays in memory. */
export function CollectionSizes({ contents }: { contents: readonly Content[] }) {
  const largest = Math.max(...contents.map(({ weight }) => weight?.bytes ?? 0), 1);
  return (
    <table class="collection-sizes">
      <thead>
        <tr>
          <th scope="col">Collection</th>
          <th scope="col">Holds about</th>
          <th scope="col">In memory</th>
        </tr>
      </thead>
      <tbody>
        {contents.map(({ name, title, weight: { documents, bytes } = UNKNOWN }) => (
          <tr key={name} data-part={`size-${name}`}>
            <th scope="row">{title}</th>
            <td>
              <span class="figures">
                {formatBytes(bytes)}{' '}
                <span class="soft">in {formatCount(documents, 'document')}</span>
              </span>
              <span class="size-bar" aria-hidden="true">
                <span style={{ width: `${(bytes / largest) * 100}%` }} />
              </span>
            </td>
            <td class="figures">
              until {formatClock(new Date(lastUse(name).getTime() + RETENTION_MS))}
              <span class="soft"> if nobody asks</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
