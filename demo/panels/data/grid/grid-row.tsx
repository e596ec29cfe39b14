import type { Stored } from 'cairndb';
import { useRef } from 'preact/hooks';
import type { Column } from '../../../database/table.ts';
import { Icon } from '../../../parts/icon.tsx';
import { removeRow, toggleArchived } from '../actions.ts';
import { CellEditor } from './cell-editor.tsx';
import { cellText } from './cell-text.ts';

const ARCHIVE = 'M3 4h14v3.5H3zM4.5 7.5V16h11V7.5M8 10.5h4';
const UNARCHIVE = 'M4.5 9V16h11V9M10 12.5V3.5M6.8 6.5L10 3.3l3.2 3.2';
const DELETE = 'M3.5 5.5h13M8 5.5V3.5h4v2M5 5.5L5.7 16.5h8.6L15 5.5M8.5 8.5v5M11.5 8.5v5';

interface GridRowProps {
  /** `undefined` while it loads. */
  readonly row: Stored | undefined;
  readonly index: number;
  readonly top: number;
  readonly columns: readonly Column[];
  /** The column of the active cell, if it is in this row. */
  readonly activeColumn: number | undefined;
  readonly editedColumn: number | undefined;
  readonly onActivate: (column: number) => void;
  readonly onEdit: (column: number) => void;
  readonly onEdited: (row: Stored, column: Column, value: unknown) => void;
  readonly onCancel: () => void;
}

/** Keyed by text: a replaced right-aligned text is no layout shift. */
const CellText = ({ text }: { text: string | undefined }) => (
  <span class="cell-text" key={text}>
    {text}
  </span>
);

export function GridRow(props: GridRowProps) {
  const { row, index, top, columns, activeColumn, editedColumn } = props;
  /** Whether the pressed cell had the focus: the second press edits. */
  const hadFocus = useRef(false);
  const name = row && columns[0] ? cellText(row, columns[0]) : '';
  return (
    <div
      class="grid-row"
      role="row"
      aria-rowindex={index + 2}
      data-archived={row?._archived}
      data-coming={!row}
      style={{ transform: `translateY(${top}px)` }}
    >
      {columns.map((column, number) => (
        <div
          key={column.path}
          role="gridcell"
          class="grid-cell"
          tabIndex={activeColumn === number ? 0 : -1}
          aria-colindex={number + 1}
          aria-readonly={column.isFixed}
          data-kind={column.kind}
          onPointerDown={({ currentTarget }) => {
            hadFocus.current = document.activeElement === currentTarget;
          }}
          onClick={() => (hadFocus.current ? props.onEdit(number) : props.onActivate(number))}
          onDblClick={() => props.onEdit(number)}
        >
          {row && editedColumn === number ? (
            <CellEditor
              row={row}
              column={column}
              onDone={(value) => props.onEdited(row, column, value)}
              onCancel={props.onCancel}
            />
          ) : (
            <CellText text={row && cellText(row, column)} />
          )}
        </div>
      ))}
      <div role="gridcell" class="grid-actions" aria-colindex={columns.length + 1}>
        {row && (
          <>
            <button
              type="button"
              class="icon-button"
              tabIndex={-1}
              aria-label={`${row._archived ? 'Unarchive' : 'Archive'} ${name}`}
              title={row._archived ? 'Unarchive' : 'Archive'}
              onClick={() => toggleArchived(row)}
            >
              <Icon path={row._archived ? UNARCHIVE : ARCHIVE} />
            </button>
            <button
              type="button"
              class="icon-button"
              tabIndex={-1}
              aria-label={`Delete ${name}`}
              title="Delete"
              onClick={() => removeRow(row)}
            >
              <Icon path={DELETE} />
            </button>
          </>
        )}
      </div>
    </div>
  );
}
