import { embedTokenRows } from '../rows/embed-tokens.ts';
import { testOperations } from './test-operations.ts';

testOperations(embedTokenRows);
