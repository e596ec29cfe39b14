import { describe, inject } from 'vitest';
import { memory } from '../../src/server/index.ts';
import { hostileRequests } from './hostile-stories.ts';

describe('a user who may do little', () => hostileRequests(memory, 320 * inject('effort')));
