import type { DocumentCollection, PipelineStage } from 'cairndb';

// The stages run in the worker: only the totals reach the page.
export const totals = (collection: DocumentCollection, pipeline: readonly PipelineStage[]) =>
  collection.aggregate<Record<string, unknown>>(pipeline);
