import { apiKeyRows } from '../rows/api-keys.ts';
import { testOperations } from './test-operations.ts';

testOperations(apiKeyRows);
