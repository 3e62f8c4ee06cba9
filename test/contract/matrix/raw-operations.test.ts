/**
 * Raw operations check access before the body: 401, then 400 for the path, 404 for the workspace, 403, and only then
 * the type of the body. So a caller who may not upload a file is rejected before they send it.
 */
import { expect, test } from 'vitest';
import { dumpTables } from '../../support/dump.ts';
import { wrongTypeOf } from '../content.ts';
import { idForm, UNKNOWN_ID } from '../invalid-values.ts';
import { rows } from '../operations.ts';
import { type Child, isNamedByText, requiredRole } from '../row.ts';
import { findRawOperation, viaRest } from '../transports.ts';
import { type CallerName, callerNames, expectedStatus, refusalOf } from './callers.ts';
import { callAs, startMatrix } from './start-matrix.ts';

const matrix = startMatrix();

const rawRows = Object.entries(rows).filter(([name]) => findRawOperation(name));

async function statusesWith(name: string, change: Parameters<typeof callAs>[4]): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (const caller of callerNames) statuses[caller] = (await callAs(matrix(), viaRest, name, caller, change)).status;
  return statuses;
}

function statusOfEach(toStatus: (caller: CallerName) => number): Record<string, number> {
  return Object.fromEntries(callerNames.map((caller) => [caller, toStatus(caller)]));
}

async function expectNoChange(): Promise<void> {
  const { app, restorer } = matrix();
  expect(await dumpTables(app)).toEqual(restorer.rows);
}

const typed = rawRows.flatMap(([name, row]) => {
  const wrongType = wrongTypeOf(name);
  return wrongType ? [[name, row, wrongType] as const] : [];
});

test.each(typed)('%s rejects a body of another type only after it has checked the caller', async (name, row, wrong) => {
  const expected = statusOfEach((caller) => {
    const status = expectedStatus(name, row, caller);
    return status < 400 ? wrong.status : status;
  });
  expect(await statusesWith(name, { content: wrong.content })).toEqual(expected);
  await expectNoChange();
});

const withIds = rawRows.flatMap(([name, row]) => {
  // `Object.keys` returns the keys as plain strings.
  const children = (Object.keys(row.children ?? {}) as Child[]).filter((child) => !isNamedByText(child));
  const parameters = [requiredRole(row)?.parameter ?? [], children].flat();
  return parameters.map((parameter) => [name, parameter] as const);
});

test.each(withIds)('%s reports a malformed %s before a body of another type', async (name, parameter) => {
  const content = wrongTypeOf(name)?.content;
  const expected = statusOfEach((caller) => refusalOf(caller) ?? 400);
  for (const malformed of idForm.malformed) {
    const input = { [parameter]: malformed };
    expect(await statusesWith(name, { input, ...(content && { content }) }), String(malformed)).toEqual(expected);
    const { body } = await callAs(matrix(), viaRest, name, 'owner', { input });
    expect(body).toMatchObject({ issues: [{ path: parameter, message: `${parameter} ${idForm.form}` }] });
  }
  await expectNoChange();
});

const inWorkspaces = rawRows.flatMap(([name, row]) => {
  const required = requiredRole(row);
  return required ? [[name, required.parameter] as const] : [];
});

test.each(inWorkspaces)('%s reports an unknown workspace before a body of another type', async (name, parameter) => {
  const content = wrongTypeOf(name)?.content;
  const input = { [parameter]: UNKNOWN_ID };
  const expected = statusOfEach((caller) => refusalOf(caller) ?? 404);
  expect(await statusesWith(name, { input, ...(content && { content }) })).toEqual(expected);
  await expectNoChange();
});
