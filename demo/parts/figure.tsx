import type { ComponentChildren } from 'preact';
import './figure.css';

/** Labelled figures, side by side. */
export function Figures({ children, label }: { children: ComponentChildren; label: string }) {
  return (
    <dl class="figure-row" aria-label={label}>
      {children}
    </dl>
  );
}

interface FigureProps {
  readonly label: string;
  /** The value; a dash while unknown. */
  readonly value: string | undefined;
  /** A short explanation. */
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
