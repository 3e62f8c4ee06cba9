/** Any operation of the REST API. */
import { LynxroomError } from '../../../client/src/index.ts';
import { type Command, UsageError } from '../command.ts';
import { chooseWorkspace, openService, urlOption, workspaceOption } from '../service.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];

export const api: Command = {
  name: 'api',
  args: '[method] <path>',
  minArgs: 1,
  maxArgs: 2,
  summary: 'Call any operation of the REST API',
  details: `A path that begins with /api is used as it is. Any other path is below the workspace in use: /labels is
/api/workspaces/<workspace>/labels. The method is GET, or POST with --data.`,
  options: {
    data: { value: 'JSON', help: 'the body of the request' },
    ...workspaceOption,
    ...urlOption,
  },
  examples: [
    `lynxroom api /labels --data '{"name":"Contracts","color":"#0ea5e9"}'`,
    'lynxroom api /analytics',
    'lynxroom api DELETE /library/1',
    'lynxroom api /api/dashboard/recordings',
  ],
  async run(context) {
    const [first = '', second] = context.args;
    const data = context.option('data');
    const path = second ?? first;
    const method = second === undefined ? (data === undefined ? 'GET' : 'POST') : first.toUpperCase();
    if (!METHODS.includes(method)) throw new UsageError(`The method must be one of ${METHODS.join(', ')}`);
    if (!path.startsWith('/')) throw new UsageError('The path must begin with /');
    if (data !== undefined && !isJson(data)) throw new UsageError('--data must be JSON');

    const service = await openService(context);
    const isWhole = /^\/api(?:\/|$)/.test(path);
    const base = isWhole ? '' : `/api/workspaces/${await chooseWorkspace(context, service)}`;
    const response = await service.request(`${base}${path}`, {
      method,
      ...(data !== undefined && { body: data, headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    if (!response.ok) throw LynxroomError.ofResponse(response.status, isJson(text) ? JSON.parse(text) : null);
    const value: unknown = isJson(text) ? JSON.parse(text) : text;
    context.print(value, typeof value === 'string' ? value : JSON.stringify(value, null, 2));
    return undefined;
  },
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
