import { addFieldOperators } from '../../src/query/criteria/operators/field-operators.ts';
import { rareOperators } from '../../src/query/criteria/operators/rare-operators.ts';

// An engine gets them with the part that has them.
addFieldOperators(rareOperators);
