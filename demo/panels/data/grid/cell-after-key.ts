export interface Cell {
  readonly row: number;
  readonly column: number;
}

interface Size {
  readonly rows: number;
  readonly columns: number;
  /** Number of visible rows. */
  readonly pageRows: number;
}

/** The cell that a key leads to (ARIA grid pattern), `undefined` for other keys. */
export function cellAfterKey(
  { row, column }: Cell,
  { key, ctrlKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey'>,
  { rows, columns, pageRows }: Size,
): Cell | undefined {
  const target = targetOf();
  if (!target) return undefined;
  return {
    row: Math.min(Math.max(target.row, 0), Math.max(rows - 1, 0)),
    column: Math.min(Math.max(target.column, 0), columns - 1),
  };

  function targetOf(): Cell | undefined {
    switch (key) {
      case 'ArrowUp':
        return { row: row - 1, column };
      case 'ArrowDown':
        return { row: row + 1, column };
      case 'ArrowLeft':
        return { row, column: column - 1 };
      case 'ArrowRight':
        return { row, column: column + 1 };
      case 'PageUp':
        return { row: row - pageRows, column };
      case 'PageDown':
        return { row: row + pageRows, column };
      case 'Home':
        return { row: ctrlKey ? 0 : row, column: 0 };
      case 'End':
        return { row: ctrlKey ? rows - 1 : row, column: columns - 1 };
      default:
        return undefined;
    }
  }
}
