import { formatCount, formatNumber } from '../../parts/format.ts';
import { outcome } from './trial.ts';

/** What the page before this one wrote, and what is there of it. */
export function OutcomeCard() {
  const { value } = outcome;
  if (!value) {
    return (
      <p class="soft outcome-space">
        Press a button that reloads. What is recovered is counted here.
      </p>
    );
  }
  const { written, recovered, unsaved, waited } = value;
  const lost = written - recovered;
  return (
    <div class="outcome outcome-space" data-tone={lost === 0 ? 'good' : 'bad'} role="status">
      <p class="figures" data-part="recovered">
        <strong>
          {formatNumber(recovered)} of {formatNumber(written)}
        </strong>{' '}
        recovered
      </p>
      <p class="soft small">
        The page was reloaded in the moment the write was {waited ? 'in storage' : 'acknowledged'}
        {!waited && unsaved > 0 && `, with ${formatCount(unsaved, 'change')} not saved yet`}.{' '}
        {lost > 0 &&
          `${formatCount(lost, 'change')} had not reached storage: wait for save() where that matters.`}
      </p>
    </div>
  );
}
