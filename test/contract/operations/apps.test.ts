import { appRows } from '../rows/apps.ts';
import { testOperations } from './test-operations.ts';

testOperations(appRows);
