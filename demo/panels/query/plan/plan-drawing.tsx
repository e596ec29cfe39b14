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
  /** The sort path, if any. */
  readonly sort: string;
}

/** The stages of a plan; each bar shows how many documents are left. */
export function PlanDrawing(props: PlanDrawingProps) {
  const { plan, total, keysExamined, documentsExamined, returned, sort } = props;
  const isScan = plan.kind === 'scan';
  return (
    <ol class="plan" data-part="plan" data-kind={plan.kind}>
      <Stage title="In the collection" amount={total} unit="documents" total={total} />
      {isScan ? (
        <Stage
          title="Scan: examine every document"
          amount={documentsExamined}
          unit="examined"
          total={total}
          tone="slow"
        />
      ) : (
        <>
          <Stage
            title={<Access plan={plan} />}
            amount={keysExamined}
            unit="keys examined"
            total={total}
          />
          <Stage
            title={
              documentsExamined === 0
                ? 'Covered by the index: no document examined'
                : 'Filter by the remaining criteria'
            }
            amount={documentsExamined}
            unit="documents examined"
            total={total}
          />
        </>
      )}
      {sort && (
        <li class="plan-note">
          {plan.ordered
            ? `The index is in the order of ${sort}`
            : `Sorted by ${sort}, largest first`}
        </li>
      )}
      <Stage title="Result" amount={returned} unit="documents" total={total} tone="result" />
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
