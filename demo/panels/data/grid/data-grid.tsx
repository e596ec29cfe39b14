import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Table } from '../../../database/table.ts';
import { editCell, removeRow, toggleArchived } from '../actions.ts';
import { type Cell, cellAfterKey } from './cell-after-key.ts';
import { GridHead } from './grid-head.tsx';
import { GridRow } from './grid-row.tsx';
import { askNames } from './names.ts';
import type { Rows } from './rows.ts';
import { useVirtualRows } from './use-virtual-rows.ts';
import './data-grid.css';

/** The same as in data-grid.css. */
const ROW_HEIGHT = 44;
const ACTIONS_WIDTH = 6;

interface DataGridProps {
  readonly table: Table;
  readonly rows: Rows;
  /** Whether a search or filter is active. */
  readonly isNarrowed: boolean;
}

/** A virtual grid: only the visible rows are in the page. */
export function DataGrid({ table, rows, isNarrowed }: DataGridProps) {
  const { columns } = table;
  const scroller = useRef<HTMLDivElement>(null);
  const active = useSignal<Cell>({ row: 0, column: 0 });
  const editing = useSignal<Cell | undefined>(undefined);
  /** Whether to focus the active cell once it is rendered. */
  const isFocusDue = useRef(false);

  const count = rows.count.value ?? 0;
  const version = rows.version.value;
  const virtual = useVirtualRows({
    scroller,
    count,
    rowHeight: ROW_HEIGHT,
    headHeight: ROW_HEIGHT,
    kept: active.value.row,
  });
  const items = virtual.getVirtualItems();
  const { startIndex = 0, endIndex = 0 } = virtual.range ?? {};

  useEffect(() => {
    rows.look(startIndex, endIndex);
    const shown = items.flatMap(({ index }) => rows.at(index) ?? []);
    askNames(columns, shown);
  }, [rows, startIndex, endIndex, version]);

  // Immediately: later it would end an edit in the new rows.
  useLayoutEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
    active.value = { row: 0, column: 0 };
    editing.value = undefined;
  }, [rows]);

  useLayoutEffect(() => {
    if (!isFocusDue.current || editing.value) return;
    const { row, column } = active.value;
    const cell = scroller.current?.querySelector<HTMLElement>(
      `[aria-rowindex="${row + 2}"] > [aria-colindex="${column + 1}"]`,
    );
    if (!cell) return;
    isFocusDue.current = false;
    cell.focus({ preventScroll: true });
  });

  function moveTo(cell: Cell) {
    active.value = cell;
    isFocusDue.current = true;
    virtual.scrollToIndex(cell.row);
  }

  function begin(cell: Cell) {
    if (columns[cell.column]?.isFixed || !rows.at(cell.row)) return;
    active.value = cell;
    editing.value = cell;
  }

  function end() {
    editing.value = undefined;
    isFocusDue.current = true;
  }

  function onKeyDown(event: KeyboardEvent) {
    if (editing.value || event.altKey || event.metaKey) return;
    const pageRows = Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT) - 2;
    const size = { rows: count, columns: columns.length, pageRows };
    const next = cellAfterKey(active.value, event, size);
    const row = rows.at(active.value.row);
    if (next) moveTo(next);
    else if (event.key === 'Enter' || event.key === 'F2') begin(active.value);
    else if (event.key === 'a' && row) toggleArchived(row);
    else if (event.key === 'Delete' && row) removeRow(row);
    else return;
    event.preventDefault();
  }

  const tracks = columns
    .map(({ width }, index) => `minmax(var(--column-${index}, ${width}rem), ${width}fr)`)
    .join(' ');
  return (
    <div
      class="grid"
      data-part="grid"
      ref={scroller}
      role="grid"
      aria-label={table.title}
      aria-describedby="grid-keys"
      aria-rowcount={count + 1}
      aria-colcount={columns.length + 1}
      style={{ '--tracks': `${tracks} ${ACTIONS_WIDTH}rem`, '--actions': `${ACTIONS_WIDTH}rem` }}
      onKeyDown={onKeyDown}
    >
      <GridHead columns={columns} />
      <div class="grid-rows" role="rowgroup" style={{ height: `${virtual.getTotalSize()}px` }}>
        {items.map(({ index, start }) => (
          <GridRow
            key={index}
            row={rows.at(index)}
            index={index}
            top={start}
            columns={columns}
            activeColumn={active.value.row === index ? active.value.column : undefined}
            editedColumn={editing.value?.row === index ? editing.value.column : undefined}
            onActivate={(column) => {
              active.value = { row: index, column };
            }}
            onEdit={(column) => begin({ row: index, column })}
            onEdited={async (document, column, value) => {
              end();
              await editCell(document, column, value);
            }}
            onCancel={end}
          />
        ))}
      </div>
      {rows.count.value === 0 && isNarrowed && <p class="grid-empty soft">No document matches.</p>}
    </div>
  );
}
