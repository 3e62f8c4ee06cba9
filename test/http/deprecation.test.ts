/** Deprecated operations, on a router of the test's own: the headers of both transports, and the OpenAPI document. */
import cookie from '@fastify/cookie';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { handleErrors } from '../../src/http/errors.ts';
import { serveRest } from '../../src/http/rest.ts';
import { serveTrpc } from '../../src/http/trpc.ts';
import { createOpenApiDocument } from '../../src/openapi/document.ts';
import { type Deprecation, deprecationHeaders } from '../../src/trpc/deprecation.ts';
import { anyone, router, signedIn } from '../../src/trpc/procedures.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const deprecated: Deprecation = { since: '2027-01-15', sunset: '2027-08-01', instead: '`labels.list`' };
const Things = z.object({ old_names: z.array(z.string()).meta({ deprecated: true }) }).meta({ id: 'ThingList' });
const openapi = (path: '/things' | '/old-things' | '/own-things') => ({
  method: 'GET' as const,
  path,
  tags: ['Things'],
});
const things = router({
  labels: router({
    list: anyone
      .meta({ openapi: { ...openapi('/things'), protect: false } })
      .output(Things)
      .query(() => ({ old_names: [] })),
    listOld: anyone
      .meta({ deprecated, openapi: { ...openapi('/old-things'), protect: false, description: 'All things.' } })
      .output(Things)
      .query(() => ({ old_names: [] })),
    listOwn: signedIn
      .meta({ deprecated, openapi: openapi('/own-things') })
      .output(Things)
      .query(() => ({ old_names: [] })),
  }),
});

const headers = {
  // 2027-01-15 and 2027-08-01, at midnight UTC.
  deprecation: '@1799971200',
  sunset: 'Sun, 01 Aug 2027 00:00:00 GMT',
  link: '</docs>; rel="deprecation"; type="text/html"',
};

let app: TestApp;
let server: FastifyInstance;
beforeAll(async () => {
  app = await startTestApp();
  server = Fastify();
  handleErrors(server);
  await server.register(cookie);
  await server.register(async (scope) => serveRest(scope, app.services, things));
  await server.register(async (scope) => serveTrpc(scope, app.services, things));
});
afterAll(async () => {
  await server.close();
  await app.close();
});

test.each([
  ['/old-things', 200],
  ['/trpc/labels.listOld', 200],
  ['/trpc/labels.list,labels.listOld?batch=1', 200],
  // Callers learn of it even if they are refused.
  ['/own-things', 401],
  ['/trpc/labels.listOwn', 401],
])('GET %s has the headers', async (url, statusCode) => {
  const response = await server.inject({ url });
  expect(response).toMatchObject({ statusCode, headers });
});

test.each(['/things', '/trpc/labels.list'])('GET %s, which is not deprecated, has none', async (url) => {
  const response = await server.inject({ url });
  expect(Object.keys(response.headers)).not.toEqual(expect.arrayContaining(['deprecation']));
  expect(response.headers.sunset).toBeUndefined();
});

test('the document marks operations and fields', () => {
  const document = createOpenApiDocument({ router: things, rawOperations: [] }, '/');
  expect(document.paths?.['/things']?.get?.deprecated).toBeUndefined();
  expect(document.paths?.['/old-things']?.get).toMatchObject({
    deprecated: true,
    description: 'Deprecated since 2027-01-15, and may be removed after 2027-08-01. Use `labels.list`.\n\nAll things.',
  });
  expect(document.components?.schemas?.ThingList).toMatchObject({ properties: { old_names: { deprecated: true } } });
});

test.each(['2027-07-14', '2027-01-01', 'soon'])('less than six months until %s are refused', (sunset) => {
  expect(() => deprecationHeaders({ ...deprecated, sunset })).toThrow('six months');
});
