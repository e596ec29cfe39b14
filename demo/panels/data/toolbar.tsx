import { collectionOf, drop } from '../../database/database.ts';
import { forgetTable, isOwn, keepTable } from '../../database/own-tables.ts';
import { searchedColumns, type Table } from '../../database/table.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { formatCount, formatSpan } from '../../parts/format.ts';
import { messageOf } from '../../parts/message-of.ts';
import { Segmented } from '../../parts/segmented.tsx';
import { actionProblem, lastDrop } from './actions.ts';
import type { Rows } from './grid/rows.ts';
import { restoreNewest } from './recipes/change.ts';
import { archivedChoice, searchText, table } from './view.ts';
import '../../parts/field.css';

/** Search, archive filter, count, and the drop button. */
export function Toolbar({ rows }: { rows: Rows | undefined }) {
  const { noun, title } = table.value;
  const count = rows?.count.value;
  const answeredIn = rows?.answeredIn.value;
  return (
    <div class="toolbar">
      <input
        type="search"
        class="field"
        aria-label={`Search ${title}`}
        placeholder={searchHint(table.value)}
        value={searchText.value}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          searchText.value = currentTarget.value;
        }}
      />
      <Segmented
        legend="Which"
        name="archived"
        options={[
          ['active', 'Active'],
          ['archived', 'Archived'],
          ['all', 'All'],
        ]}
        value={archivedChoice.value}
        onChange={(value) => {
          archivedChoice.value = value;
        }}
      />
      <p class="toolbar-count figures" data-part="count">
        {count !== undefined && <strong>{formatCount(count, ...noun)}</strong>}
        {answeredIn !== undefined && <span class="soft">found in {formatSpan(answeredIn)}</span>}
      </p>
      <ConfirmButton
        label="Empty…"
        question={`Drop ${title}?`}
        text="This removes all its documents and your edits. A backup stays, so you can undo it."
        action="Drop everything"
        onConfirm={empty}
      />
    </div>
  );
}

function searchHint(table: Table): string {
  const titles = searchedColumns(table).map(({ title }) => title.toLowerCase());
  return titles.length === 0 ? 'No text to search' : `Search by ${titles.join(', ')}`;
}

async function empty(): Promise<void> {
  const { value } = table;
  try {
    lastDrop.value = undefined;
    await drop(value.name);
    if (isOwn(value)) await forgetTable(value.name);
    lastDrop.value = { text: `${value.title} dropped.`, undo: () => bringBack(value) };
  } catch (error) {
    actionProblem.value = messageOf(error);
  }
}

/** Undoes a drop with the backup that it kept. */
async function bringBack(dropped: Table): Promise<void> {
  if (isOwn(dropped)) await keepTable(dropped);
  await restoreNewest(collectionOf(dropped.name));
}
