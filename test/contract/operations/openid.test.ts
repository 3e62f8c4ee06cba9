import { openidRows } from '../rows/openid.ts';
import { testOperations } from './test-operations.ts';

testOperations(openidRows);
