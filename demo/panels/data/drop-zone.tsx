import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { forgetTable, keepTable, tables } from '../../database/own-tables.ts';
import { messageOf } from '../../parts/message-of.ts';
import { openFile } from '../../sources/file.ts';
import { importJob, requireNoImport, runImport } from '../../sources/import-job.ts';
import { ImportStrip } from '../../sources/import-strip.tsx';
import { showTable } from './view.ts';

interface DropZoneProps {
  /** Content beside the button. */
  readonly beside: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Imports a file as a table of its own and shows it. An empty table is removed. */
async function open(file: File): Promise<void> {
  requireNoImport();
  const taken = tables.peek().map(({ name }) => name);
  const { source, table } = await openFile(file, taken);
  await keepTable(table);
  await runImport(source);
  if (importJob.peek()?.documents === 0) await forgetTable(table.name);
  else showTable(table.name);
}

/** Accepts files, dropped or chosen. */
export function DropZone({ beside, children }: DropZoneProps) {
  const isOver = useSignal(false);
  const problem = useSignal('');
  const input = useRef<HTMLInputElement>(null);

  async function take(files: FileList | null | undefined) {
    problem.value = files?.length === 0 ? 'That is not a file.' : '';
    try {
      for (const file of files ?? []) await open(file);
    } catch (error) {
      problem.value = messageOf(error);
    }
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button does the same
    <div
      class="drop-zone"
      data-over={isOver.value}
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        // It may have moved to a child element.
        isOver.value = currentTarget.contains(relatedTarget as Node | null);
      }}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        take(event.dataTransfer?.files);
      }}
    >
      <div class="drop-line small">
        {beside}
        <button type="button" class="button compact" onClick={() => input.current?.click()}>
          Open a file…
        </button>
        <input
          ref={input}
          type="file"
          class="hidden"
          tabIndex={-1}
          aria-label="A file of JSON, NDJSON or CSV"
          accept=".json,.ndjson,.jsonl,.csv,.tsv,application/json,text/csv"
          multiple
          onChange={({ currentTarget }) => {
            const { files } = currentTarget;
            take(files).finally(() => {
              currentTarget.value = ''; // allows choosing the same file again
            });
          }}
        />
      </div>
      <ImportStrip
        hint="JSON, NDJSON or CSV, opened or dropped here. It stays on this device."
        problem={problem.value}
      />
      {children}
    </div>
  );
}
