import { calendarFeedRows } from '../rows/calendar-feed.ts';
import { testOperations } from './test-operations.ts';

testOperations(calendarFeedRows);
