import { invitationRows } from '../rows/invitations.ts';
import { testOperations } from './test-operations.ts';

testOperations(invitationRows);
