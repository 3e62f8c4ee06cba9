import { roomRows } from '../rows/rooms.ts';
import { testOperations } from './test-operations.ts';

testOperations(roomRows);
