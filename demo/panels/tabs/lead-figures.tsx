import type { ClientStatus } from 'cairndb';
import { Figure, Figures } from '../../parts/figure.tsx';
import { formatNumber, formatSpan } from '../../parts/format.ts';
import { lastFailover } from './failover-log.ts';
import { sharedStatus } from './shared.ts';

/** `tabs` is missing before the engine answers. */
type Status = ClientStatus & { readonly tabs?: number };

const ENGINES = {
  worker: 'In a worker of this tab',
  tab: 'In the leader',
  thread: 'In this page',
} as const;

/** Leader, engine, number of tabs, and duration of the last failover. */
export function LeadFigures() {
  const { state, leader, engine, tabs, unsaved }: Status = sharedStatus.value;
  const isOpen = state === 'open';
  return (
    <Figures label="Leadership">
      <Figure
        label="Leader"
        value={isOpen ? (leader ? 'This tab' : 'Another tab') : undefined}
        note={isOpen && engine ? `the engine is ${ENGINES[engine].toLowerCase()}` : ''}
        tone={isOpen && leader ? 'good' : undefined}
        part="leader"
      />
      {tabs !== undefined && (
        <Figure label="Tabs" value={formatNumber(tabs)} note="share the database" part="tabs" />
      )}
      <Figure
        label="Unsaved"
        value={isOpen ? formatNumber(unsaved) : undefined}
        note="changes, of all tabs"
        part="unsaved"
      />
      <Figure
        label="Last failover"
        value={lastFailover.value === undefined ? undefined : formatSpan(lastFailover.value)}
        note="until the next engine ran"
        part="failover"
      />
    </Figures>
  );
}
