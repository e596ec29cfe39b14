import { formatNumber, formatSpan } from '../parts/format.ts';
import { Problem } from '../parts/problem.tsx';
import { Progress } from '../parts/progress.tsx';
import { cancelImport, importJob, runImport } from './import-job.ts';
import type { Source } from './source.ts';
import './import-control.css';

interface ImportControlProps {
  readonly source: Source;
  /** Number of its stored documents. */
  readonly have: number;
  /** Label of the button while there are none. */
  readonly label: string;
}

/** Starts, shows and cancels an import. */
export function ImportControl({ source, have, label }: ImportControlProps) {
  const job = importJob.value;
  const mine = job?.source.collection === source.collection ? job : undefined;
  const isRunning = mine?.state === 'running';
  const { total } = source;
  const isComplete = total !== undefined && have >= total;
  return (
    <div class="import-control" data-state={mine?.state ?? 'idle'}>
      {isComplete ? (
        <a class="button primary" href="#/data">
          Browse them
        </a>
      ) : isRunning ? (
        <button type="button" class="button" onClick={cancelImport}>
          Cancel
        </button>
      ) : (
        <button
          type="button"
          class="button primary"
          disabled={job?.state === 'running'}
          onClick={() => runImport(source)}
        >
          {have === 0 ? label : 'Load the rest'}
        </button>
      )}
      <div class="import-progress">
        <Progress label={`${source.title} loaded`} value={have} max={total ?? (have || 1)} />
        <p class="soft figures" data-part="import-text">
          {describe(have, total)}
          {mine?.state === 'done' && ` · saved in ${formatSpan(mine.ms)}`}
          {mine?.state === 'cancelled' && ' · stopped'}
        </p>
      </div>
      <Problem text={mine?.problem} />
    </div>
  );
}

function describe(have: number, total: number | undefined): string {
  return total === undefined
    ? formatNumber(have)
    : `${formatNumber(have)} of ${formatNumber(total)}`;
}
