import { webhookRows } from '../rows/webhooks.ts';
import { testOperations } from './test-operations.ts';

testOperations(webhookRows);
