import { libraryRows } from '../rows/library.ts';
import { testOperations } from './test-operations.ts';

testOperations(libraryRows);
