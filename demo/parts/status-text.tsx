import { Problem } from './problem.tsx';
import './status-text.css';

interface StatusTextProps {
  /** Progress or result. */
  readonly text: string;
  /** An error, which replaces the text. */
  readonly problem: string;
  /** For tests. */
  readonly part?: string;
}

/** A status line with reserved space, so that nothing moves when it fills. */
export function StatusText({ text, problem, part }: StatusTextProps) {
  return (
    <div class="status-text small">
      <p class="soft figures" role="status" data-part={part}>
        {problem ? '' : text}
      </p>
      <Problem text={problem} />
    </div>
  );
}
