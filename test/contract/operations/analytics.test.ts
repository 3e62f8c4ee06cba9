import { analyticsRows } from '../rows/analytics.ts';
import { testOperations } from './test-operations.ts';

testOperations(analyticsRows);
