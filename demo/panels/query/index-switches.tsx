import { Problem } from '../../parts/problem.tsx';
import { Switch } from '../../parts/switch.tsx';
import { indexJob, switchIndex } from './index-job.ts';
import { answer } from './query.ts';

/** A switch for each field that the query looks at: with an index, or without. */
export function IndexSwitches() {
  const { table = '', paths = [], indexes = [] } = answer.value ?? {};
  const job = indexJob.value;
  if (paths.length === 0) return null;
  return (
    <fieldset class="index-switches">
      <legend>Indexes</legend>
      {paths.map((path) => (
        <Switch
          key={path}
          label={<code>{path}</code>}
          checked={indexes.includes(path)}
          disabled={job?.isRunning ?? false}
          onChange={() => switchIndex(table, path)}
        />
      ))}
      <p class="soft small" role="status" data-part="index-job">
        {job?.text ?? 'Switch one on, and the query runs again.'}
      </p>
      <Problem text={job?.problem} />
    </fieldset>
  );
}
