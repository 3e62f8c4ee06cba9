import { bookingRows } from '../rows/bookings.ts';
import { testOperations } from './test-operations.ts';

testOperations(bookingRows);
