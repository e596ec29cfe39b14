export {
  type CairnCollectionConfig,
  type CairnCollectionOptions,
  type CairnUtils,
  cairnCollectionOptions,
  type Row,
} from './collection-options.ts';
export { writeMutations } from './write-mutations.ts';
