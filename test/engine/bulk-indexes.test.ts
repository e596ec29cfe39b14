import { expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { fc, runs } from '../setup/properties.ts';

interface Item {
  _id: string;
  group: number | undefined;
  tags: string[];
  code: number;
}

const INDEXES = ['group', { fields: 'tags', multi: true }, { fields: 'code', unique: true }];

const at = fc.nat(999);
const step = fc.oneof(
  fc.record({ insert: fc.integer({ min: 128, max: 200 }) }),
  fc.record({ again: at }),
  fc.record({ update: at, group: fc.nat(4) }),
  fc.record({ delete: at }),
  fc.constantFrom('save' as const, 'reopen' as const, 'query' as const),
);

test.each([true, false])(
  'indexes follow documents inserted in bulk, caching %s',
  async (caching) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const storage = memoryDriver();
        const open = () => {
          const db = new Database({ name: 'shop', storage });
          const options = {
            name: 'items',
            type: 'DOCUMENT_BASED',
            caching,
            indexes: INDEXES,
          } as const;
          return { db, items: new db.Collection<Item>(options) };
        };
        let { db, items } = open();
        let model: Item[] = [];
        let code = 0;
        const check = async () => {
          const find = async (criteria: object) => {
            const found = await items.filter(criteria);
            return found.map(({ _id, group, tags, code }) => ({ _id, group, tags, code }));
          };
          for (const group of [0, 3])
            expect(await find({ group })).toEqual(model.filter((one) => one.group === group));
          const tagged = model.filter(({ tags }) => tags.includes('t1'));
          expect(await find({ tags: 't1' })).toEqual(tagged);
          const [first] = model;
          if (first) expect(await find({ code: first.code })).toEqual([first]);
          expect(await items.count()).toBe(model.length);
        };
        for (const step of steps) {
          if (step === 'save') await items.save();
          else if (step === 'query') await check();
          else if (step === 'reopen') {
            await db.close();
            ({ db, items } = open());
          } else if ('insert' in step) {
            const made = Array.from({ length: step.insert }, () => {
              code++;
              const own = { _id: `i${code}`, group: code % 5, tags: [`t${code % 3}`, 'all'], code };
              return code % 7 === 0 ? { ...own, group: undefined } : own;
            });
            await items.insertMany(made);
            model.push(...made);
          } else {
            const place =
              'again' in step ? step.again : 'update' in step ? step.update : step.delete;
            const one = model[place % Math.max(1, model.length)];
            if (!one) continue;
            if ('again' in step) {
              const many = Array.from({ length: 130 }, (_, each) => ({ ...one, _id: `x${each}` }));
              await expect(items.insertMany(many)).rejects.toThrow('already has');
            } else if ('update' in step) {
              await items.patch(one._id, { $set: { group: step.group } });
              model = model.map((each) => (each === one ? { ...each, group: step.group } : each));
            } else {
              await items.delete(one._id);
              model = model.filter((each) => each !== one);
            }
          }
        }
        await check();
        await db.close();
        ({ db, items } = open());
        await check();
        await db.close();
      }),
      runs(30),
    );
  },
);
