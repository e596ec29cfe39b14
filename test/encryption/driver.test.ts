import { describe, test } from 'vitest';
import { encrypted } from '../../src/encryption/index.ts';
import { memoryDriver } from '../../src/index.ts';
import { storageDriverSuite } from '../../src/testing/index.ts';

const key = new Uint8Array(32).fill(7);

storageDriverSuite(encrypted(memoryDriver(), { key }), { describe, test });
storageDriverSuite(encrypted('indexeddb', { key }), { describe, test });
