import type { WireChange } from 'cairndb/server';
import { formatNumber } from '../../parts/format.ts';
import { world } from './devices.ts';
import './server-card.css';

/** What the server stores: the newest version of each item, newest change first. */
export function ServerCard() {
  const rows = world.value.rows.value;
  const newest = rows.at(-1);
  return (
    <section class="card server" aria-labelledby="server-title">
      <header class="device-head">
        <h2 id="server-title">Server</h2>
        <code class="soft">memory()</code>
      </header>
      <dl class="device-status small figures">
        <div>
          <dt>Newest change</dt>
          <dd data-part="newest">{newest ? formatNumber(sequenceOf(newest)) : '–'}</dd>
        </div>
        <div>
          <dt>Items</dt>
          <dd data-part="stored">{formatNumber(rows.filter((row) => !row.deleted).length)}</dd>
        </div>
      </dl>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <ol class="server-rows small" tabIndex={0} aria-label="Rows of the server">
        {/* In the order of the ids, each moved to its place: the element stays where it is. */}
        {rows
          .map((row, index) => ({ row, place: rows.length - 1 - index }))
          .sort((one, other) => (one.row.id < other.row.id ? -1 : 1))
          .map(({ row, place }) => (
            <li key={row.id} style={{ '--place': place }} data-deleted={row.deleted}>
              {/* Keyed by version: a replaced text is no layout shift. */}
              <ServerRow key={row.version} row={row} />
            </li>
          ))}
      </ol>
    </section>
  );
}

function ServerRow({ row }: { row: WireChange }) {
  const { document, version } = row;
  return (
    <>
      <span class="server-sequence figures">
        <span class="hidden">Change </span>
        {formatNumber(sequenceOf(row))}
      </span>
      <span class="server-text">
        {document ? (
          <>
            <strong>{String(document.title)}</strong> × {String(document.amount)}{' '}
            <span class="soft">{detailsOf(document)}</span>
          </>
        ) : (
          <span class="soft">deleted (tombstone)</span>
        )}
      </span>
      <span class="server-version soft">
        version <code>{version}</code>
      </span>
    </>
  );
}

const detailsOf = ({ note, photo }: NonNullable<WireChange['document']>) =>
  [note, photo && 'with a photo'].filter(Boolean).join(', ');

/** A version of `memory()` begins with the number of the change. */
const sequenceOf = ({ version }: WireChange): number => Number.parseInt(version, 10);
