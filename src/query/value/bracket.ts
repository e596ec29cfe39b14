/**
 * The type brackets of values, in BSON's order. Comparison operators match only values of their
 * operand's bracket; a sort puts lower brackets first. BSON has no Map, Set and Blob: each is a
 * bracket beside the most similar one.
 */
export const missing = 0;
const nil = 1;

export { nil as null };
export const numeric = 2;
export const string = 3;
export const object = 4;
export const map = 5;
export const set = 6;
export const array = 7;
export const binary = 8;
export const blob = 9;
export const boolean = 10;
export const date = 11;
export const regexp = 12;
export const other = 13;
