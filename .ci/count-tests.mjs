/**
 * Prints the tests that failed, with their errors, and then the number of tests, alone on a line. A log is often cut
 * off at its beginning, so the errors are repeated here.
 *
 * Usage: node .ci/count-tests.mjs <failed steps> <JSON report of vitest>...
 */
import { readFileSync } from 'node:fs';

const MAX_SHOWN = 40;
const MAX_ERROR_LENGTH = 1500;

const print = (text) => process.stdout.write(`${text}\n`);

const [failedSteps, ...paths] = process.argv.slice(2);
const reports = paths.map((path) => JSON.parse(readFileSync(path, 'utf8')));
const sum = (name) => reports.reduce((total, report) => total + report[name], 0);

const failures = reports
  .flatMap(({ testResults }) => testResults)
  .filter(({ status }) => status === 'failed')
  .flatMap(({ name, message, assertionResults }) => [
    ...(message ? [`${name}\n${message}`] : []),
    ...assertionResults
      .filter((test) => test.status === 'failed')
      .map(({ fullName, failureMessages }) => `${name}: ${fullName}\n${failureMessages.join('\n')}`),
  ]);
for (const failure of failures.slice(0, MAX_SHOWN)) print(`\nfailed: ${failure.slice(0, MAX_ERROR_LENGTH)}`);
if (failures.length > MAX_SHOWN) print(`\nand ${failures.length - MAX_SHOWN} more failed`);

if (sum('numPendingTests') > 0) print(`${sum('numPendingTests')} tests were skipped`);
const failed = Math.max(sum('numFailedTests'), sum('numFailedTestSuites') > 0 ? 1 : 0, Number(failedSteps));
print(`${sum('numPassedTests')} passed, ${failed} failed`);
