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

/** The way of a query by a function: no index can help, and it ends as soon as enough is found. */
export function FunctionDrawing({ total, looked, returned, ms }: FunctionDrawingProps) {
  return (
    <>
      <ol class="plan" data-part="plan" data-kind="function">
        <Stage title="In the collection" amount={total} unit="documents" total={total} />
        <Stage
          title="Your function, here in the page"
          amount={looked}
          unit="looked at"
          total={total}
          tone="slow"
        />
        <Stage title="Found" amount={returned} unit="documents" total={total} tone="result" />
      </ol>
      <p class="soft small">
        A function keeps its closures, so it runs here and no index can help. Documents come to it
        in chunks until it has found 50, in <strong data-part="engine-ms">{formatSpan(ms)}</strong>.
      </p>
    </>
  );
}
