import type { ComponentChildren } from 'preact';
import './figure.css';

/** Figures side by side, each a number with what it means. */
export function Figures({ children, label }: { children: ComponentChildren; label: string }) {
  return (
    <dl class="figure-row" aria-label={label}>
      {children}
    </dl>
  );
}

interface FigureProps {
  readonly label: string;
  /** What is shown; a dash while it is not known. */
  readonly value: string | undefined;
  /** A word more about it. */
  readonly note?: string | undefined;
  /** For tests. */
  readonly part?: string;
  readonly tone?: 'good' | 'bad' | undefined;
}

export function Figure({ label, value, note, part, tone }: FigureProps) {
  return (
    <div class="figure" data-tone={tone}>
      <dt>{label}</dt>
      <dd class="figures" data-part={part}>
        {value ?? '–'}
      </dd>
      {note !== undefined && <dd class="figure-note">{note}</dd>}
    </div>
  );
}
