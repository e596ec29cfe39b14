import { StatusText } from '../../parts/status-text.tsx';
import { Switch } from '../../parts/switch.tsx';
import { indexJob, switchIndex } from './index-job.ts';
import { answer } from './query.ts';

/** A switch per field of the query that turns its index on or off. */
export function IndexSwitches() {
  const { table = '', paths = [], indexes = [] } = answer.value ?? {};
  const job = indexJob.value;
  return (
    <fieldset class="index-switches">
      <legend>Indexes</legend>
      <div class="index-list">
        {paths.length === 0 && <span class="soft">no field in the criteria</span>}
        {paths.map((path) => (
          <Switch
            // Keyed by the list: replaced switches are no layout shift.
            key={`${paths} ${path}`}
            label={<code>{path}</code>}
            checked={indexes.includes(path)}
            disabled={job?.isRunning ?? false}
            onChange={() => switchIndex(table, path)}
          />
        ))}
      </div>
      <StatusText
        text={
          job?.text ?? (paths.length > 0 ? 'Switch an index on or off to run the query again.' : '')
        }
        problem={job?.problem ?? ''}
        part="index-job"
      />
    </fieldset>
  );
}
