import { labelRows } from '../rows/labels.ts';
import { testOperations } from './test-operations.ts';

testOperations(labelRows);
