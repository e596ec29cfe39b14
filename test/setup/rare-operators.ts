import { addFieldOperators } from '../../src/query/criteria/operators/field-operators.ts';
import { rareOperators } from '../../src/query/criteria/operators/rare-operators.ts';
import { providePrefixes } from '../../src/query/plan/interval.ts';
import { isPrefixOnly, prefixInterval } from '../../src/query/plan/prefix.ts';
import { provideCollations } from '../../src/query/value/collation.ts';
import { collators } from '../../src/query/value/collators.ts';

// An engine gets them with the part that has them.
addFieldOperators(rareOperators);
providePrefixes({ isPrefixOnly, prefixInterval });
provideCollations(collators);
