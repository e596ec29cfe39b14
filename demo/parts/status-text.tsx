import { Problem } from './problem.tsx';
import './status-text.css';

interface StatusTextProps {
  /** How it goes, or what came of it. */
  readonly text: string;
  /** What went wrong; it comes in the place of the text. */
  readonly problem: string;
  /** For tests. */
  readonly part?: string;
}

/** What is said about something, in a place that is there from the start: nothing moves when it is filled. */
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
