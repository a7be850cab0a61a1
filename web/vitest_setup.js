// What browsers have, and Node.js 18 does not unless asked to.
import { webcrypto } from 'node:crypto';

globalThis.crypto ??= webcrypto;
