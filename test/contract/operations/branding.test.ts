import { brandingRows } from '../rows/branding.ts';
import { testOperations } from './test-operations.ts';

testOperations(brandingRows);
