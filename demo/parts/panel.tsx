import type { ComponentChildren } from 'preact';
import './button.css';
import './panel.css';

interface PanelProps {
  /** The claim of the panel. */
  readonly title: string;
  readonly lead: string;
  readonly children: ComponentChildren;
}

/** The frame of every panel: heading, lead, content. */
export function PanelFrame({ title, lead, children }: PanelProps) {
  return (
    <article class="panel">
      <header class="panel-head">
        <h1 tabIndex={-1}>{title}</h1>
        <p>{lead}</p>
      </header>
      {children}
    </article>
  );
}
