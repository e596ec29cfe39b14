import type { Column } from '../../../database/table.ts';
import { sorting } from '../view.ts';

const ORDERS = { '1': 'ascending', '-1': 'descending' } as const;

/** Column headings. A click cycles through ascending, descending and insertion order. */
export function GridHead({ columns }: { columns: readonly Column[] }) {
  return (
    <div class="grid-row grid-head" role="row" aria-rowindex={1}>
      {columns.map((column, index) => {
        const { path, title, kind } = column;
        const direction = sorting.value?.path === path ? sorting.value.direction : undefined;
        return (
          <div
            key={path}
            role="columnheader"
            aria-colindex={index + 1}
            aria-sort={direction ? ORDERS[direction] : 'none'}
            data-kind={kind}
          >
            <button type="button" onClick={() => sortBy(column)}>
              {title}
              <span class="sort-mark" aria-hidden="true">
                {direction === 1 ? '↑' : direction === -1 ? '↓' : ''}
              </span>
            </button>
          </div>
        );
      })}
      <div role="columnheader" class="grid-actions" aria-colindex={columns.length + 1}>
        <span class="hidden">Actions</span>
      </div>
    </div>
  );
}

function sortBy({ path, kind }: Column): void {
  const { path: before, direction } = sorting.peek() ?? {};
  // Numbers sort descending first.
  const first = kind === 'number' || kind === 'date' ? -1 : 1;
  if (before !== path) sorting.value = { path, direction: first };
  else if (direction === first) sorting.value = { path, direction: first === 1 ? -1 : 1 };
  else sorting.value = undefined;
}
