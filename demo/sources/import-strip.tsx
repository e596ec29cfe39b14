import { formatCount, formatNumber, formatSpan } from '../parts/format.ts';
import { Problem } from '../parts/problem.tsx';
import { Progress } from '../parts/progress.tsx';
import { cancelImport, importJob } from './import-job.ts';
import './import-strip.css';

/** The import that runs or was the last: how far, how fast, and what it did to the page. */
export function ImportStrip() {
  const job = importJob.value;
  if (!job) return null;
  const { source, state, documents, ms, longestTask, problem } = job;
  return (
    <div class="import-strip small" data-part="import-strip" data-state={state}>
      <strong>{source.title}</strong>
      <Progress
        label={`${source.title} imported`}
        value={documents}
        max={source.total ?? (state === 'running' ? documents * 2 : documents || 1)}
      />
      <span class="figures">
        {formatCount(documents, 'document')}
        {state === 'done' && ` saved in ${formatSpan(ms)}`}
        {state === 'failed' && ' went in before this'}
        {state === 'cancelled' && ' went in, then it was stopped'}
        {state === 'running' && `, ${formatNumber(Math.round((documents / ms) * 1000))} a second`}
      </span>
      <span class="soft">{describeLongest(longestTask)}</span>
      {state === 'running' && (
        <button type="button" class="button compact" onClick={cancelImport}>
          Cancel
        </button>
      )}
      <Problem text={problem} />
    </div>
  );
}

function describeLongest(longest: number | undefined): string {
  if (longest === undefined) return '';
  return longest === 0
    ? 'The page was never blocked over 50 ms'
    : `The page was blocked for ${formatSpan(longest)} at most`;
}
