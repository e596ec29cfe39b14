import { formatCount, formatNumber } from '../../parts/format.ts';
import { type Outcome, outcome } from './trial.ts';

/** What the page before this one wrote, and what is there of it. */
export function OutcomeCard() {
  const { value } = outcome;
  if (!value) {
    return (
      <p class="soft">
        Let a tab close itself, or reload this one. What is recovered is counted here.
      </p>
    );
  }
  const { written, recovered } = value;
  const lost = written - recovered;
  return (
    <div class="outcome" data-part="outcome" data-tone={lost === 0 ? 'good' : 'bad'} role="status">
      <p class="figures" data-part="recovered">
        <strong>
          {formatNumber(recovered)} of {formatNumber(written)}
        </strong>{' '}
        recovered
      </p>
      <p class="soft small">
        {circumstances(value)} {consequence(value)}
      </p>
    </div>
  );
}

function circumstances({ end, unsaved, waited }: Outcome): string {
  const what = end === 'closed' ? 'A tab was closed' : 'This tab was reloaded';
  if (waited) return `${what} in the moment the write was in storage.`;
  const rest = unsaved > 0 ? `, with ${formatCount(unsaved, 'change')} not saved yet` : '';
  return `${what} in the moment the write was acknowledged${rest}.`;
}

function consequence({ written, recovered, unsaved }: Outcome): string {
  const lost = written - recovered;
  if (lost > 0)
    return `${formatCount(lost, 'change')} did not reach storage: wait for save() where that matters.`;
  return unsaved > 0 ? 'It left them behind as it went, and this page made them.' : '';
}
