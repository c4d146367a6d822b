// Browsers have the global `crypto`; Node has it from version 19 on.
import { webcrypto } from 'node:crypto'

if (!('crypto' in globalThis)) Object.defineProperty(globalThis, 'crypto', { value: webcrypto })
