import { trashRows } from '../rows/trash.ts';
import { testOperations } from './test-operations.ts';

testOperations(trashRows);
