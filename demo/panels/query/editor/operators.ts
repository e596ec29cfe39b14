/** The operators of criteria with a short description. */
export const FIELD_OPERATORS: Readonly<Record<string, string>> = {
  $eq: 'equal to',
  $ne: 'not equal to',
  $gt: 'greater than',
  $gte: 'greater than or equal to',
  $lt: 'less than',
  $lte: 'less than or equal to',
  $in: 'one of a list',
  $nin: 'none of a list',
  $exists: 'whether the field exists',
  $type: 'the type of the value',
  $regex: 'a pattern in a string',
  $size: 'the length of an array',
  $all: 'an array with all of these',
  $elemMatch: 'an item that matches all of this',
  $mod: 'a remainder: [divisor, remainder]',
  $bitsAllSet: 'all of these bits are 1',
  $bitsAnySet: 'one of these bits is 1',
  $bitsAllClear: 'all of these bits are 0',
  $bitsAnyClear: 'one of these bits is 0',
  $not: 'no match for these operators',
};

export const LOGIC_OPERATORS: Readonly<Record<string, string>> = {
  $and: 'all of these criteria',
  $or: 'any of these criteria',
  $nor: 'none of these criteria',
  $expr: 'an expression that holds: { $gt: ["$spent", "$budget"] }',
  $comment: 'a note; it matches everything',
};
