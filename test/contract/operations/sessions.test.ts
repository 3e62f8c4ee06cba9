import { sessionRows } from '../rows/sessions.ts';
import { testOperations } from './test-operations.ts';

testOperations(sessionRows);
