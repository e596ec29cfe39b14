import { formatCount, formatNumber, formatSpan } from '../parts/format.ts';
import { Problem } from '../parts/problem.tsx';
import { Progress } from '../parts/progress.tsx';
import { cancelImport, type ImportJob, importJob } from './import-job.ts';
import './import-strip.css';

interface ImportStripProps {
  /** The text before the first import. */
  readonly hint: string;
  /** The error of the next import. */
  readonly problem: string;
}

/** Progress, speed and page blocking of the current import. Fixed height. */
export function ImportStrip({ hint, problem }: ImportStripProps) {
  const job = importJob.value;
  const wrong = problem || failureOf(job);
  return (
    <div class="import-strip small" data-part="import-strip" data-state={job?.state ?? 'idle'}>
      {job && (job.state === 'running' || !wrong) && <Import job={job} />}
      {!job && !wrong && <p class="soft">{hint}</p>}
      <Problem text={wrong} />
    </div>
  );
}

function Import({ job }: { job: ImportJob }) {
  const { source, state, documents, longestTask } = job;
  return (
    <>
      <div class="import-strip-bar">
        <strong>{source.title}</strong>
        <Progress
          label={`${source.title} imported`}
          value={documents}
          max={source.total ?? (state === 'running' ? documents * 2 : documents || 1)}
        />
      </div>
      <div class="import-strip-text">
        <p class="figures">{`${formatCount(documents, 'document')}${progressText(job)}`}</p>
        <p class="soft">{describeLongest(longestTask)}</p>
      </div>
      {state === 'running' && (
        <button type="button" class="button compact" onClick={cancelImport}>
          Cancel
        </button>
      )}
    </>
  );
}

function failureOf(job: ImportJob | undefined): string {
  if (job?.state !== 'failed') return '';
  return `${job.problem} ${formatCount(job.documents, 'document')} imported before.`;
}

function progressText({ state, documents, ms }: ImportJob): string {
  if (state === 'done') return ` saved in ${formatSpan(ms)}`;
  if (state === 'cancelled') return ', then it was stopped';
  return documents === 0 ? '' : `, ${formatNumber(Math.round((documents / ms) * 1000))} a second`;
}

function describeLongest(longest: number | undefined): string {
  if (longest === undefined) return '';
  return longest === 0
    ? 'The page was never blocked for over 50 ms'
    : `The page was blocked for ${formatSpan(longest)} at most`;
}
