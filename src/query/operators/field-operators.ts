import { $elemMatch, $size } from './array.ts';
import { $eq, $gt, $gte, $lt, $lte, $ne } from './comparison.ts';
import { $exists, $type } from './element.ts';
import { $all, $in, $nin } from './membership.ts';
import { $mod } from './modulo.ts';
import { $not } from './negation.ts';
import type { Operator } from './operator.ts';
import { $options, $regex } from './pattern.ts';

/** Every operator allowed in the criteria of a field. */
export const fieldOperators: ReadonlyMap<string, Operator> = new Map(
  Object.entries({
    $eq,
    $ne,
    $gt,
    $gte,
    $lt,
    $lte,
    $in,
    $nin,
    $not,
    $exists,
    $type,
    $regex,
    $options,
    $size,
    $all,
    $elemMatch,
    $mod,
  }),
);
