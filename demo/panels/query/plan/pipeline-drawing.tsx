import { formatCount, formatSpan } from '../../../parts/format.ts';
import { Stage } from './stage.tsx';
import './plan-drawing.css';

interface PipelineDrawingProps {
  readonly total: number;
  readonly stages: number;
  readonly returned: number;
  readonly ms: number;
}

/** The way of a pipeline. */
export function PipelineDrawing({ total, stages, returned, ms }: PipelineDrawingProps) {
  return (
    <div class="plan-drawing">
      <ol class="plan" data-part="plan" data-kind="pipeline">
        <Stage title="In the collection" amount={total} unit="documents" total={total} />
        <li class="plan-note">{formatCount(stages, 'stage')}, in the worker</li>
        <Stage title="Result" amount={returned} unit="documents" total={total} tone="result" />
      </ol>
      <p class="soft small">
        A <code>$match</code> that comes first uses indexes. Only the result reaches the page, here
        in <strong data-part="engine-ms">{formatSpan(ms)}</strong>.
      </p>
    </div>
  );
}
