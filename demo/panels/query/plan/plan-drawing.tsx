import type { Plan } from 'cairndb';
import { formatNumber } from '../../../parts/format.ts';
import { rangeText } from './range-text.ts';
import { Stage } from './stage.tsx';
import './plan-drawing.css';

interface PlanDrawingProps {
  readonly plan: Plan;
  readonly total: number;
  readonly keysExamined: number;
  readonly documentsExamined: number;
  readonly returned: number;
  /** The path that was sorted by, if any. */
  readonly sort: string;
}

/** The way from all documents to those that were found; the bars are as long as what is left. */
export function PlanDrawing(props: PlanDrawingProps) {
  const { plan, total, keysExamined, documentsExamined, returned, sort } = props;
  const isScan = plan.kind === 'scan';
  return (
    <ol class="plan" data-part="plan" data-kind={plan.kind}>
      <Stage title="In the collection" amount={total} unit="documents" total={total} />
      {isScan ? (
        <Stage
          title="Scan: look at every document"
          amount={documentsExamined}
          unit="looked at"
          total={total}
          tone="slow"
        />
      ) : (
        <>
          <Stage
            title={<Access plan={plan} />}
            amount={keysExamined}
            unit="keys looked at"
            total={total}
          />
          <Stage
            title={
              documentsExamined === 0
                ? 'The keys say it all: no document was looked at'
                : 'The rest of the criteria, in the documents'
            }
            amount={documentsExamined}
            unit="documents looked at"
            total={total}
          />
        </>
      )}
      {sort && (
        <li class="plan-note">
          {plan.ordered ? `In the order of ${sort} already` : `Sorted by ${sort}, largest first`}
        </li>
      )}
      <Stage title="Found" amount={returned} unit="documents" total={total} tone="result" />
    </ol>
  );
}

function Access({ plan }: { plan: Exclude<Plan, { kind: 'scan' }> }) {
  if (plan.kind === 'ids') return <>By {formatNumber(plan.ids.length)} ids</>;
  if (plan.kind === 'index') {
    const ranges = plan.ranges.slice(0, 4).map(rangeText).join('; ');
    return (
      <>
        Index <code>{plan.index}</code>: {ranges}
        {plan.ranges.length > 4 && ' …'}
      </>
    );
  }
  return (
    <ul class="plan-branches">
      {plan.branches.map((branch, index) => (
        <li key={index}>
          <Access plan={branch} />
        </li>
      ))}
    </ul>
  );
}
