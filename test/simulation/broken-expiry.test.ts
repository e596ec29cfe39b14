import { Expiry } from '../../src/engine/expiry/expiry-sweep.ts';
import { change, findsBroken } from './broken.ts';
import { runExpiry } from './expiry-run.ts';

const finds = findsBroken(runExpiry, 600);

finds('a read that shows what is not removed yet is found out', () =>
  change(Expiry.prototype, 'hiding', () => undefined),
);

finds('a document that is hidden too early is found out', () =>
  change(Expiry.prototype, 'isHidden', function (_, record) {
    return this.dueOf(record) - 2000 <= this.now();
  }),
);

finds('an expired document that keeps its id is found out', () =>
  change(Expiry.prototype, 'vacate', function (vacate, key) {
    const hides = this.hiding();
    return vacate(key) && !hides;
  }),
);
