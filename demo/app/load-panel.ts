import type { ComponentType } from 'preact';
import type { PANELS } from './catalogue.ts';

type Id = (typeof PANELS)[number]['id'];

/** The code of each panel is loaded when it is first shown. */
const LOADERS: Record<Id, () => Promise<ComponentType>> = {
  '': async () => (await import('../panels/start/start-panel.tsx')).StartPanel,
  data: async () => (await import('../panels/data/data-panel.tsx')).DataPanel,
  query: async () => (await import('../panels/query/query-panel.tsx')).QueryPanel,
  search: async () => (await import('../panels/search/search-panel.tsx')).SearchPanel,
  dashboard: async () => (await import('../panels/dashboard/dashboard-panel.tsx')).DashboardPanel,
  backups: async () => (await import('../panels/backups/backups-panel.tsx')).BackupsPanel,
  storage: async () => (await import('../panels/storage/storage-panel.tsx')).StoragePanel,
  durability: async () =>
    (await import('../panels/durability/durability-panel.tsx')).DurabilityPanel,
  tabs: async () => (await import('../panels/tabs/tabs-panel.tsx')).TabsPanel,
  transactions: async () =>
    (await import('../panels/transactions/transactions-panel.tsx')).TransactionsPanel,
  sync: async () => (await import('../panels/sync/sync-panel.tsx')).SyncPanel,
  devtools: async () => (await import('../panels/devtools/devtools-panel.tsx')).DevtoolsPanel,
  speed: async () => (await import('../panels/speed/speed-panel.tsx')).SpeedPanel,
};

export const loadPanel = (id: string): Promise<ComponentType> => LOADERS[id as Id]();
