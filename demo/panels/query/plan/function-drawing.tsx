import { formatSpan } from '../../../parts/format.ts';
import { Stage } from './stage.tsx';
import './plan-drawing.css';

interface FunctionDrawingProps {
  readonly total: number;
  /** How many documents the function was called with. */
  readonly looked: number;
  readonly returned: number;
  readonly ms: number;
}

/** The stages of a query by a function. */
export function FunctionDrawing({ total, looked, returned, ms }: FunctionDrawingProps) {
  return (
    <div class="plan-drawing">
      <ol class="plan" data-part="plan" data-kind="function">
        <Stage title="In the collection" amount={total} unit="documents" total={total} />
        <Stage
          title="Your function, in the page"
          amount={looked}
          unit="examined"
          total={total}
          tone="slow"
        />
        <Stage title="Result" amount={returned} unit="documents" total={total} tone="result" />
      </ol>
      <p class="soft small">
        A function may use closures, so it runs in the page and no index can help. Documents arrive
        in chunks until 50 match, here in <strong data-part="engine-ms">{formatSpan(ms)}</strong>.
      </p>
    </div>
  );
}
