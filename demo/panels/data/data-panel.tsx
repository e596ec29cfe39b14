import { tables } from '../../database/own-tables.ts';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { PanelFrame } from '../../parts/panel.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import { importJob } from '../../sources/import-job.ts';
import { actionProblem } from './actions.ts';
import { DropZone } from './drop-zone.tsx';
import { FillTable } from './fill-table.tsx';
import { DataGrid } from './grid/data-grid.tsx';
import { GridFoot } from './grid-foot.tsx';
import changeSource from './recipes/change.ts?raw';
import namesSource from './recipes/names.ts?raw';
import searchSource from './recipes/search.ts?raw';
import { Toolbar } from './toolbar.tsx';
import { useAnsweredRows } from './use-answered-rows.ts';
import { archivedChoice, searchText, showTable, table } from './view.ts';
import './data-panel.css';

/** Documents in a grid: search, sort, edit, archive. */
export function DataPanel() {
  const rows = useAnsweredRows();
  const { name } = table.value;
  const isNarrowed = searchText.value !== '' || archivedChoice.value !== 'active';
  const isFilling =
    importJob.value?.state === 'running' && importJob.value.source.collection === name;
  const isEmpty = rows?.count.value === 0 && !isNarrowed && !isFilling;
  return (
    <PanelFrame
      title="Search everything as you type."
      lead="Every keystroke queries the whole collection, in a worker. The page holds only the visible rows, and each of them is live: a change in any tab shows here."
    >
      <DropZone
        beside={
          <Segmented
            legend="Table"
            name="table"
            options={tables.value.map((each) => [each.name, each.title])}
            value={name}
            onChange={showTable}
          />
        }
      >
        <Toolbar rows={rows} />
        {isEmpty && <FillTable />}
        {rows && !isEmpty && (
          <DataGrid key={name} table={table.value} rows={rows} isNarrowed={isNarrowed} />
        )}
        {!rows && <div class="grid" />}
        <GridFoot problem={rows?.problem.value || actionProblem.value} />
      </DropZone>
      <CodeSection>
        <CodeSample title="Search, live" source={searchSource} />
        <CodeSample title="Change and undo" source={changeSource} />
        <CodeSample title="Join two collections" source={namesSource} />
      </CodeSection>
    </PanelFrame>
  );
}
