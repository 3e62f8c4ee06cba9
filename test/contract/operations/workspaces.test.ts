import { workspaceRows } from '../rows/workspaces.ts';
import { testOperations } from './test-operations.ts';

testOperations(workspaceRows);
