import { passkeyRows } from '../rows/passkeys.ts';
import { testOperations } from './test-operations.ts';

testOperations(passkeyRows);
