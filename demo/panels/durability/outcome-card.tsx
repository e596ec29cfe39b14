import { formatCount, formatNumber } from '../../parts/format.ts';
import { type Outcome, outcome } from './trial.ts';

/** How much the previous page wrote, and how much was recovered. */
export function OutcomeCard() {
  const { value } = outcome;
  if (!value) {
    return (
      <p class="none">Close a tab or reload this one. The recovered documents are counted here.</p>
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
  if (waited) return `${what} as soon as the write was saved.`;
  const rest = unsaved > 0 ? `, with ${formatCount(unsaved, 'change')} unsaved` : '';
  return `${what} as soon as the write was acknowledged${rest}.`;
}

function consequence({ written, recovered, unsaved }: Outcome): string {
  const lost = written - recovered;
  if (lost > 0)
    return `${formatCount(lost, 'change')} were lost: await save() before the page ends.`;
  return unsaved > 0 ? 'This page replayed them.' : '';
}
