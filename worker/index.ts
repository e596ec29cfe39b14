/**
 * The worker of `connect()`: hosts an engine behind its own message port, and does nothing else.
 */
import { serve } from '../src/engine/host/worker-host.ts';

serve(globalThis as unknown as Parameters<typeof serve>[0]);
