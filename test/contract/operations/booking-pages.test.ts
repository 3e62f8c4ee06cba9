import { bookingPageRows } from '../rows/booking-pages.ts';
import { testOperations } from './test-operations.ts';

testOperations(bookingPageRows);
